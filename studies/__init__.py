"""Studies: how the figures of the documentation were measured. Not in the wheel of `onesnap`.

    paper       every table and figure of the paper, made anew; `onesnap reproduce` runs it
    speed       speed against the limit of the machine, and error against cost beside the solver;
                `onesnap bench` runs it
    accuracy    valid times, climates and bands of forecasts; damaged files, killed processes, more
                data than memory; each a program of its own, `python -m studies.accuracy.NAME`
    peers       beside others on public benchmarks, with their data and their score

A study uses `onesnap` as its users do, and looks inside where it measures what is inside. Goals
stand here, never in `onesnap`. To install it from the repository: `pip install --editable studies`.
"""
