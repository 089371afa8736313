"""Pictures and pages, made from arrays only.

style        colours, scales, and the parts of figures
forecast     a forecast beside the truth
animation    the same as a film
trajectory   one trajectory: strips, maps, a film, letters
html         self-contained report pages
"""
