"""How good forecasts are, and what files and processes survive; one program a question.

    accuracy      valid times and errors, in `lines`, `planes`, `catalogue`; long runs, in `climate`;
                  and exams: `unseen`, `edges`, `reach`, `choosing`, `trajectories`, `ablation`
    unseen        equations outside the catalogue, which are in `equations`; alone, or some of them
    calibration   whether bands hold what they promise
    paper         the goals of `onesnap reproduce`, met or not, on our data and on the paper's
    pictures      pictures of the documentation: growth of waves, valid time against windows
    gallery       every system of the catalogue from one pair: pictures, pages, docs/gallery.md
    film          a film of a page, for the README
    noisy         noise on what is learned from and started from, gaps, hidden variables
    street        a vortex street of our own, beside dynamic mode decomposition
    walls         equations between walls, solved by py-pde
    streaming     more data than memory
    damage        damaged files, by the thousand
    kills         fits and forecasts that are killed at random moments

Each runs by `python -m studies.accuracy.NAME`. `reference` finds the data of the paper's own
solver, `output` is where tables and news go; `judging` is what exams share, `store` keeps their
cases.
"""
