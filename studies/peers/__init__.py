"""Beside others: the same data, the same score, their best settings. `onesnap peers` runs it.

    scenarios           APEBench's 46 scenarios, and what was published of five networks
    guest, guests/      another Python with packages of its own, in a process that is asked
    benchmark           APEBench's data and its score
    case                one row of results, measured once and kept in a file
    contest             ours, and a linear window, from 1, 20, 200 and all pairs
    networks            APEBench's networks, trained by its own code
    families            reservoir, SINDy, DMD, persistence; tuned on what is held out
    chaos               a tuned reservoir beside ours, by valid time
    gray_scott          The Well's set made anew
    diffusion_reaction  PDEBench's set made anew
    public              ours on both
    cost, walled        error-matched solvers and the breakeven count
    scores, page        what the results say, docs/peers.md and its picture
    command             `onesnap peers`

Raw results are kept in `results/`, a JSON file a name. What is there is not run again.
Environments and data go to `ONESNAP_PEERS`, or the cache folder of the user.
"""
