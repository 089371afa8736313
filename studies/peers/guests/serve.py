"""How a guest is asked: a line of JSON a request on standard input, a line an answer.

A guest runs in another Python, as a script of this folder; it imports this file from beside it.
Before its answer it may tell how far it is, as `{"progress": [done, total]}`.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping


class Clock:
    """Wall and processor seconds since it was made: others may work on the machine."""

    def __init__(self):
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def read(self) -> dict:
        return {
            "seconds": time.perf_counter() - self.wall,
            "processor seconds": time.process_time() - self.processor,
        }


def serve(tasks: Mapping[str, Callable[..., dict]]) -> None:
    """Answer until nobody asks. A task gets the request's fields, and `tell(done, total)`."""
    # Whatever libraries print must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(what: dict) -> None:
        print(json.dumps(what), file=answers, flush=True)

    def tell(done: int, total: int) -> None:
        say({"progress": [done, total]})

    for line in sys.stdin:
        request = json.loads(line)
        try:
            say(tasks[request.pop("do")](tell=tell, **request))
        except Exception as error:  # raised where it was asked
            say({"error": f"{type(error).__name__}: {error}"})
