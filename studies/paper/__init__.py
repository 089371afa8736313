"""The paper, whole: every table and figure, made anew by one call.

    from studies.paper.run import run
    run("all", "out/paper")                       # or `onesnap reproduce all`

One module a study: `settings`, `ks1d`, `inhomogeneous`, `planes`, `symmetries`, `equivariance`.
What they share is in `study`, the published way of training in `published`; finished parts are kept
on a `shelf`. `targets` holds the published numbers, `figures` and `maps` draw, `page` is the report,
`command` the command line.
"""
