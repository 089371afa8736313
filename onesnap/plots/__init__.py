"""Pictures and pages, made from arrays only.

style        colours, scales, and the parts of figures
forecast     a forecast beside the truth
animation    the same as a film
trajectory   one trajectory: strips, maps, a film, letters
html         self-contained report pages

Figures are objects of matplotlib that no global state knows of, so they work in threads, servers
and notebooks alike; `png` turns one into bytes.
"""

from .animation import animate as animate
from .forecast import error_curve as error_curve, frames as frames, space_time as space_time
from .style import png as png
