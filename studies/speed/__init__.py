"""Benchmarks of speed, and of error against cost; `onesnap bench` runs them.

timing     best of several, peak of the machine, children       goals      ratios, met or missed
cases      networks of the paper's sizes, the obvious way       pareto     surrogate and solver
children   what runs in a process of its own                    pictures   plots of both
speed      every measurement                                    tables     tables of both
command    the command line
"""
