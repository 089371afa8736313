"""The command `onesnap`, also as `python -m onesnap`: Ctrl-C is one line from the first import on."""

import os
import signal
import sys

INTERRUPTED = 130  # the exit code of Ctrl-C


def interrupt(_, frame) -> None:
    """Raise KeyboardInterrupt, but end at once in the middle of an import.

    There packages print what they like, raise something else, or go on as if nothing had happened;
    and there is nothing to tidy up.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"onesnap: interrupted\n")
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line."""
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        from .cli import app

        app(prog_name="onesnap")  # what a shell completes is a command, not `python -m`
    except KeyboardInterrupt:
        sys.stderr.write("onesnap: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    main()
