"""Beside others: the same data, the same score, their best settings.

    scenarios       APEBench's 46 scenarios, and what was published of five networks
    guest           another Python with packages of its own, in a process that is asked
    apebench_guest  what that process does: data and scores; runs there, not here
    contest         ours on a scenario, from 1, 20, 200 and all pairs

    python -m studies.peers.contest diff_burgers diff_kdv --pairs 1 20 --layers 3

Raw results are kept in `results/`, a JSON file a scenario. What is there is not run again.
"""
