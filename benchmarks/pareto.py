"""Error against cost, surrogate and solver; the same as `onesnap bench pareto`.

python benchmarks/pareto.py [--quick] [--out FOLDER]
"""

import sys

from onesnap.cli.app import app

if __name__ == "__main__":
    app(["bench", "pareto", *sys.argv[1:]])
