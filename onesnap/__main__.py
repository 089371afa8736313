"""The command `onesnap`, also as `python -m onesnap`: Ctrl-C is one line from the first import on."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from .cli import app

        app()
    except KeyboardInterrupt:
        sys.stderr.write("onesnap: interrupted\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
