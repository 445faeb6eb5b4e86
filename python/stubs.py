"""Writes the stubs of the package from the library's cards: python stubs.py. A test compares them."""

from __future__ import annotations

import os
from typing import Any, Dict, List

from dubio._cards import arguments, doc, function_name, scores

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dubio")

TYPES = {
    "bins": "bins: int = 15",
    "edges": 'edges: str = "right-closed"',
    "threshold": "threshold: float = 0.001",
    "reference": "reference: Any = None",
    "costs": "costs: Any = None",
    "level": "level: float = 0.95",
    "calibrated": "calibrated: bool = False",
    "seed": "seed: int = 0",
}

INIT = '''# Written by stubs.py from the library's cards.
from typing import Any, List

from . import lightning as lightning, regression as regression, sklearn as sklearn, torch as torch
from ._accumulator import Accumulator as Accumulator
from ._card import Score as Score, Scores as Scores
from ._commands import Checks as Checks, Comparison as Comparison, Study as Study
from ._commands import check as check, compare as compare, report as report, run as run
from ._errors import DataError as DataError, Error as Error, FileError as FileError
from ._errors import PredictionError as PredictionError, SettingError as SettingError, SuiteError as SuiteError
from ._evaluate import Calibration as Calibration, calibrate as calibrate, evaluate as evaluate
from ._fit import Estimator as Estimator, fit as fit

__version__: str
METHODS: List[str]
NETWORKS: List[str]
SCORES: List[str]
'''

REGRESSION = '''# Written by stubs.py from the library's cards.
from typing import Any, Sequence, Union

from ._card import Scores

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
) -> Scores: ...
'''

POSITIONAL = {
    "classification": ["probs: Any = None", "labels: Any = None", "*", "logits: Any = None", "log_probs: Any = None"],
    "regression": [
        *(f"{name}: Any = None" for name in ("mean", "std", "targets")),
        "*",
        *(f"{name}: Any = None" for name in ("var", "samples", "quantiles", "levels", "lower", "upper")),
    ],
}


def stub(card: Dict[str, Any]) -> str:
    """A score's function."""
    parameters = POSITIONAL[card["task"]] + [TYPES[name] for name in arguments(card)]
    listed = "".join(f"    {parameter},\n" for parameter in parameters)
    text = doc(card).replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
    return f'def {function_name(card["name"])}(\n{listed}) -> float:\n    """{text}"""\n'


def stubs() -> Dict[str, str]:
    """The text of every stub file."""

    def of(task: str, head: str) -> str:
        functions: List[str] = [stub(card) for card in scores(task)]
        return "\n".join([head, *functions])

    return {"__init__.pyi": of("classification", INIT), "regression.pyi": of("regression", REGRESSION)}


if __name__ == "__main__":
    for name, text in stubs().items():
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)
