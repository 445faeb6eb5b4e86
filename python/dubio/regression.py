"""Scores of regression: predictive distributions of a number.

Every score is a function here, from the library's own card; ``help(dubio.regression.crps)`` says what it is.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Sequence, Union

from ._arrays import ArrayIn, given, with_groups
from ._call import call
from ._card import Scores
from ._scores import add_regression


def evaluate(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
    scores: Union[str, Sequence[str]] = (),
    groups: Any = None,
    intervals: bool = True,
    **settings: Any,
) -> Scores:
    """Every score of a regression, with 95 % intervals.

    Give ``mean`` and ``std`` (or ``var``), ``[examples]`` or ``[members, examples]``; or ``samples``
    ``[draws, examples]``; or ``quantiles`` ``[levels, examples]`` and ``levels``; or ``lower`` and ``upper``;
    and ``targets``. Or ``mean`` is the path of a predictions file. Further settings: ``level``,
    ``resamples``, ``seed``.

    >>> import dubio
    >>> card = dubio.regression.evaluate([0.0, 1.0], [1.0, 1.0], [0.5, 1.0], resamples=20)
    >>> card["mae"].value
    0.25
    """
    named = scores.split(",") if isinstance(scores, str) else list(scores)
    files: List[List[ArrayIn]] = []
    group = None
    if isinstance(mean, (str, os.PathLike)):
        file: Any = os.fspath(mean)
    else:
        arrays: Dict[str, Any] = {
            "mean": mean,
            "std": std,
            "var": var,
            "samples": samples,
            "quantiles": quantiles,
            "levels": levels,
            "lower": lower,
            "upper": upper,
            "targets": targets,
        }
        group = with_groups(arrays, groups)
        files.append(given(arrays))
        file = {"arrays": 0}
    asked = {"file": file, "scores": named, "groups": group, **settings}
    if not intervals:
        asked["resamples"] = 0
    return Scores.read(call("evaluate", asked, files)["scores"])


__all__ = ["evaluate", *add_regression(globals(), evaluate)]
