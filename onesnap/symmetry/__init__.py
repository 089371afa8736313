"""Symmetries of an equation: signed permutations of the axes, and a sign on the field.

groups            elements and groups of them, acting on fields
stencil           how a group moves the windows and blocks of a network
orbits            readouts of random units that come in whole orbits
representations   least squares split by the irreducible representations of a group
parity            networks with mirror symmetries, evaluated by parities
"""

from .groups import (
    Element as Element,
    Group as Group,
    full as full,
    reflections as reflections,
    rotations as rotations,
    trivial as trivial,
)
from .stencil import Stencil as Stencil
