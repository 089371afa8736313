"""Plain arrays on regular grids.

states       checks of users' arrays
memory       how much there is, before states are made that would not fit
windows      fields cut into windows, and blocks glued back into a field
boundary     what lies beyond the edges
part         all of a grid, or a piece whose neighbours are elsewhere
edges        blocks near open ends, predicted from windows that keep inside
scaling      ranges and means, before the network and after it
potentials   ∇Δ⁻¹u, what a field does at a distance
surroundings averages over boxes, what lies farther away than a window reaches
"""
