"""Equations that can be simulated.

catalogue   every system: its equation, grid, initial states and symmetry
solvers     spectral solver steps out of the parts of exponax
terms       an equation as data, read off its solver
simulate    from a system to a trajectory
"""

from .catalogue import System as System, systems as systems
from .simulate import simulate as simulate
