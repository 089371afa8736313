"""How many states a step has to read: one, unless those before it help by a standard error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .extents import rank_extents
from .folds import make_folds, ordered
from .given import first_plan
from .held_out import Judge
from .option import Option
from .policy import POLICY
from .problem import Problem


def find_history(problem: Problem, most: int) -> int:
    """The length, up to `most`, of the history that pairs have as their first fields.

    All lengths are judged by the same windows of the same pairs, each in windows of its best size.
    """
    pairs, options = ordered(problem.pairs), list[Option]()
    folds, policy = make_folds(pairs), POLICY.scaled(problem.given["effort"]).above(problem.floor)
    for history in range(1, most + 1):
        older, all_older = (count * problem.channels for count in (history - 1, most - 1))
        fields = np.concatenate([pairs.fields[:, :older], pairs.fields[:, all_older:]], axis=1)
        given = {**problem.given, "history": history}
        shorter = replace(problem, given=given, pairs=replace(pairs, fields=fields))
        option = rank_extents(Judge(shorter, folds, policy), first_plan(shorter))
        if option is None or (options and not option.beats(options[-1])):
            break
        options.append(option)
    return max(1, len(options))
