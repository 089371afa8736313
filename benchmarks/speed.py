"""Speed against the limit of this machine; the same as `onesnap bench speed`.

python benchmarks/speed.py [--quick] [--out FOLDER]
"""

import sys

from onesnap.cli.app import app

if __name__ == "__main__":
    app(["bench", "speed", *sys.argv[1:]])
