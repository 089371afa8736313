"""The window network: from a state to inputs, features, a readout, and back to a field.

context        what a window is told beside the state
inputs         the one way from a state to what the network reads
sampler        windows of training pairs as rows
features       the random layer
equivariance   random units with all their images under a group
linear         a linear window before the random units
factor         triangular factors, by LAPACK on one thread
lstsq          streaming least squares
layer          rows through the features into least squares, noise averaged in
accumulator    what least squares has to remember, as a value with a zero and a sum
assemble       copies of the network glued together
edges          the same with blocks at open ends, off the middle of their windows
native         the same in C++, where a compiler is at hand
"""
