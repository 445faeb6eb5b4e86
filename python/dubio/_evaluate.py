"""Scores of classification."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._arrays import ArrayIn, as_numpy, given, with_groups
from ._call import call, called
from ._card import Scores

Predictions = Any  #: an array [examples, classes] or [members, examples, classes], or a predictions file
FORMS = ("probs", "logits", "log_probs")


def files_of(
    files: List[List[ArrayIn]], labels: Any = None, extra: Optional[Dict[str, Any]] = None, **forms: Any
) -> Any:
    """Predictions as the library's settings name them: a path, or the number of some arrays."""
    forms = {name: values for name, values in forms.items() if values is not None}
    if len(forms) == 1 and isinstance(next(iter(forms.values())), (str, os.PathLike)):
        return os.fspath(next(iter(forms.values())))
    files.append(given({**forms, "labels": labels, **(extra or {})}))
    return {"arrays": len(files) - 1}


@contextmanager
def cost_file(costs: Any) -> Iterator[Optional[str]]:
    """A cost matrix as the file that the library reads; every digit is kept."""
    if costs is None or isinstance(costs, (str, os.PathLike)):
        yield None if costs is None else os.fspath(costs)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "costs.csv")
        rows = as_numpy("costs", costs).astype(np.float64)
        with open(path, "w") as file:
            file.write("\n".join(",".join(repr(float(cost)) for cost in row) for row in rows) + "\n")
        yield path


def evaluate(
    probs: Predictions = None,
    labels: Any = None,
    *,
    logits: Predictions = None,
    log_probs: Predictions = None,
    scores: Union[str, Sequence[str]] = (),
    ood: Optional[Mapping[str, Any]] = None,
    reference: Predictions = None,
    groups: Any = None,
    costs: Any = None,
    intervals: bool = True,
    **settings: Any,
) -> Scores:
    """Every score of some predictions, with 95 % intervals.

    ``probs``, ``logits`` or ``log_probs`` is ``[examples, classes]``, or ``[members, examples, classes]`` of an
    ensemble or posterior; ``labels`` are classes from 0. Or ``probs`` is the path of a predictions file.
    ``ood`` are predictions of other data by name, and ``reference`` of the same, both in the same form.
    ``scores`` chooses some by name, family or pattern. Further settings: ``bins``, ``edges``, ``threshold``,
    ``resamples``, ``seed``.

    >>> import numpy as np, dubio
    >>> card = dubio.evaluate(np.array([[0.9, 0.1], [0.4, 0.6]]), [0, 1], resamples=20)
    >>> card["accuracy"].value
    1.0
    """
    files: List[List[ArrayIn]] = []
    extra: Dict[str, Any] = {}
    group = with_groups(extra, groups)
    forms = {"probs": probs, "logits": logits, "log_probs": log_probs}
    form = next((name for name in FORMS if forms[name] is not None), "probs")
    named = scores.split(",") if isinstance(scores, str) else list(scores)
    with cost_file(costs) as cost_path:
        asked = {
            "file": files_of(files, labels, extra, **forms),
            "scores": named,
            "ood": [(name, files_of(files, **{form: other})) for name, other in (ood or {}).items()],
            "reference": None if reference is None else files_of(files, **{form: reference}),
            "groups": group,
            "costs": cost_path,
            **settings,
        }
        if not intervals:
            asked["resamples"] = 0
        return Scores.read(call("evaluate", asked, files)["scores"])


class Calibration:
    """Temperatures that were fitted to some predictions.

    ``temperatures`` has one for the mean of the members, or one for each member.
    """

    def __init__(self, temperatures: List[float], per_member: bool) -> None:
        self.temperatures = temperatures
        self.per_member = per_member

    @property
    def temperature(self) -> float:
        """The temperature, where there is one."""
        if len(self.temperatures) != 1:
            raise ValueError(f"there are {len(self.temperatures)} temperatures, one for each member")
        return self.temperatures[0]

    def apply_log(
        self, probs: Predictions = None, *, logits: Predictions = None, log_probs: Predictions = None
    ) -> npt.NDArray[np.float32]:
        """Log-probabilities at these temperatures, ``[examples, classes]`` or with members in front."""
        files: List[List[ArrayIn]] = []
        file = files_of(files, probs=probs, logits=logits, log_probs=log_probs)
        asked = {"file": file, "temperatures": self.temperatures, "per_member": self.per_member}
        _, numbers = called("apply", asked, files)
        assert numbers is not None
        return numbers if self.per_member else numbers[0]

    def apply(
        self, probs: Predictions = None, *, logits: Predictions = None, log_probs: Predictions = None
    ) -> npt.NDArray[np.float32]:
        """Probabilities at these temperatures, ``[examples, classes]`` or with members in front."""
        return np.exp(self.apply_log(probs, logits=logits, log_probs=log_probs))

    def __repr__(self) -> str:
        return f"Calibration(temperatures={self.temperatures})"


def calibrate(
    probs: Predictions = None,
    labels: Any = None,
    *,
    logits: Predictions = None,
    log_probs: Predictions = None,
    per_member: bool = False,
) -> Calibration:
    """The temperature that maximises the likelihood of validation labels.

    Fit on validation data, never on what will be scored.

    >>> import numpy as np, dubio
    >>> fitted = dubio.calibrate(np.array([[0.9, 0.1], [0.8, 0.2], [0.9, 0.1]]), [0, 0, 1])
    >>> fitted.apply(np.array([[0.5, 0.5]]))
    array([[0.5, 0.5]], dtype=float32)
    """
    files: List[List[ArrayIn]] = []
    file = files_of(files, labels, probs=probs, logits=logits, log_probs=log_probs)
    found = call("calibrate", {"file": file, "per_member": per_member}, files)
    return Calibration(found["temperatures"], per_member)
