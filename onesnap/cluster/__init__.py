"""A fit on several processes or machines: settings once, sums anywhere, one solution.

material    what users give to learn from, in memory or read a part at a time
prepared    a model that has chosen its settings and learned nothing yet, as a file
stored      fits as files, whether they have learned or are prepared
pieces      the pairs of a dataset in pieces, and what a piece teaches
executors   pieces on any executor, tried again where a worker dies, added up as a tree
checkpoint  what such a fit had added up when it was interrupted
pool        a pool of processes that is started anew when one of them dies
"""
