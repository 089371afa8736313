"""The paper, whole: every table and figure, made anew by one call.

    run("all", "out/paper")                       # or `onesnap reproduce all`

One module a study: `settings`, `ks1d`, `inhomogeneous`, `planes`, `symmetries`, `equivariance`.
What they share is in `study`, finished parts are kept on a `shelf`, `targets` holds the published
numbers, `page` the report.
"""

from .page import compared as compared
from .run import STUDIES as STUDIES, find as find, run as run
from .study import FULL as FULL, QUICK as QUICK, Data as Data, Scale as Scale
