"""Equations that are not in the catalogue: the library was tuned on none of them.

line, plane, space   the equations, each a `System` with its declared symmetry
methods              solver steps for several fields: ETDRK4, and exact ones
draws                initial states

`unseen` maps their names to them. Nothing here may be used to choose a number of the library.
"""

from collections.abc import Mapping
from types import MappingProxyType

import onesnap as snap

from . import line, plane, space

unseen: Mapping[str, snap.System] = MappingProxyType(
    {each.name: each for each in (*line.EQUATIONS, *plane.EQUATIONS, *space.EQUATIONS)}
)
