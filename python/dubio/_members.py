"""What the members of an ensemble are worth, and whether they have converged."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._arrays import ArrayIn, given
from ._call import call
from ._card import number
from ._commands import Result
from ._evaluate import Predictions, files_of


class Equivalents(Result):
    """Deep ensemble equivalents: a row for each method, score and number of samples.

    ``dee`` is a number of networks, or text as ``"> 10"`` where a method is better than the largest ensemble.
    """

    def _rows(self) -> List[Dict[str, Any]]:
        about = ("dataset", "model", "method", "metric")
        kept = about if self["table"] else about[2:]
        return [
            {**{key: one[key] for key in kept}, **row, "value": number(row["value"])}
            for one in self["methods"]
            for row in one["rows"]
        ]


def dee(
    models: Optional[Mapping[str, Predictions]] = None,
    labels: Any = None,
    *,
    baseline: Any,
    form: str = "probs",
    table: Optional[str] = None,
    scores: Union[str, Sequence[str]] = (),
    **settings: Any,
) -> Equivalents:
    """Deep ensemble equivalents: how many independently trained networks each method is worth (Ashukha et al. 2020).

    ``models`` are predictions by name, ``[members, examples, classes]``, or paths of files or of folders of runs.
    ``baseline`` are those of independently trained networks, in the same ``form``. With ``table``, the path of a CSV of
    scores, ``baseline`` is the name of a method in it. ``scores`` defaults to ``calibrated.nll``. Further settings:
    ``samples`` (numbers of members to report), ``draws``, ``better``, ``falling``, ``seed``.

    >>> import numpy as np, dubio
    >>> draws = np.random.default_rng(0)
    >>> members, labels = draws.dirichlet(np.ones(3), size=(4, 50)), np.arange(50) % 3
    >>> found = dubio.dee({"pairs": members[:2]}, labels, baseline=members, scores="accuracy")
    >>> [row["method"] for row in found["methods"]]
    ['baseline', 'pairs']
    """
    files: List[List[ArrayIn]] = []
    asked: Dict[str, Any] = {"scores": scores.split(",") if isinstance(scores, str) else list(scores), **settings}
    if table is not None:
        asked.update(table=table, baseline=baseline)
    else:
        named = models or {}
        asked["methods"] = [files_of(files, labels, **{form: model}) for model in named.values()]
        asked["baseline"] = files_of(files, labels, **{form: baseline})
        asked.update(names=list(named), baseline_name="baseline")
    return Equivalents({"methods": call("dee", asked, files), "table": table is not None})


class Diagnosis(Result):
    """Whether chains have converged: ``predictions``, ``loss``, and ``warnings`` in words."""

    def _rows(self) -> List[Dict[str, Any]]:
        rows = []
        spread, loss = self["predictions"], self["loss"]
        if spread is not None:
            for name, rhat, ess in (("median", "median", "median"), ("worst", "max", "min")):
                keys = {"rhat": f"rhat_{rhat}", "ess_bulk": f"ess_bulk_{ess}", "ess_tail": f"ess_tail_{ess}"}
                rows.append({"quantity": f"predictions, {name}", **{key: number(spread[of]) for key, of in keys.items()}})
        if loss is not None:
            rows.append({"quantity": "loss", **{key: number(value) for key, value in loss.items()}})
        return rows

    def __repr__(self) -> str:
        return super().__repr__() if self._rows() else "too few draws, or draws that are all the same: nothing can be said"


def diagnose(
    probs: Predictions = None,
    labels: Any = None,
    *,
    logits: Predictions = None,
    log_probs: Predictions = None,
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    chains: Optional[int] = None,
) -> Diagnosis:
    """Whether the chains behind predictions have converged: rank-normalised R-hat and effective sample sizes.

    Members are the draws of ``chains`` chains of one length, chain after chain: ``[members, examples, classes]``, or for a
    regression ``mean`` and ``std`` ``[members, examples]``. Or ``probs`` is the path of a file, or of the folder of a run.
    R-hat should be below 1.01 (Vehtari et al. 2021).

    >>> import numpy as np, dubio
    >>> draws = np.random.default_rng(0).dirichlet(np.ones(3), size=(40, 20))
    >>> dubio.diagnose(draws, np.arange(20) % 3, chains=4)["draws"]
    10
    """
    files: List[List[ArrayIn]] = []
    if mean is not None:
        files.append(given({"mean": mean, "std": std, "targets": targets}))
        path: Any = {"arrays": 0}
    else:
        path = files_of(files, labels, probs=probs, logits=logits, log_probs=log_probs)
    found = call("diagnose", {"path": path, "chains": chains}, files)
    if files:
        del found["file"]  # a name that only the library knows
    return Diagnosis(found)
