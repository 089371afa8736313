"""A page on which a learned model runs: one HTML file that needs nothing but a browser.

pack       the numbers of a model, as the page takes them
recorded   those of recorded states
equation   the terms of an equation that is known
elements   the symmetries of a model, with names
labels     names and units
held       what a model tells of itself; inputs that change in time are held
notebook   inside a notebook
lesson     what a model learned from, how good it is
lift       lines and planes as volumes
document   the page around them
assets     its markup, style and scripts:
           grid, kernel (matrix products), fourier, reader and engine (a step), solver
           (of the equation), worker (runs both),
           field (starts, brushes, turns), session (a run), paint, view (what is seen), links,
           app and controls (buttons, keys, the pointer), script (`window.onesnap`)
"""

from .document import make_page as make_page, write_page as write_page
from .held import describe as describe
from .notebook import Page as Page
from .recorded import MOST_STEPS as MOST_STEPS
