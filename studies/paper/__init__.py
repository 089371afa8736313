"""The paper, whole: every table and figure, made anew by one call.

    run("all", "out/paper")                       # or `onesnap reproduce all`

One module a study: `settings`, `ks1d`, `inhomogeneous`, `planes`, `symmetries`, `equivariance`.
What they share is in `study`, the published way of training in `published`; finished parts are kept
on a `shelf`. `targets` holds the published numbers, `figures` and `maps` draw, `page` is the report,
`command` the command line.
"""

from .page import compared as compared
from .run import STUDIES as STUDIES, find as find, run as run
from .study import FULL as FULL, QUICK as QUICK, Data as Data, Scale as Scale
