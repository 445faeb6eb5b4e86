"""Writes the stubs of the package from the library's cards: python scripts/stubs.py. A test compares them."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Dict, List

from dubio._cards import doc, function_name, scores, signature

FOLDER = Path(__file__).resolve().parents[1] / "dubio"

INIT = '''# Written by scripts/stubs.py from the library's cards.
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
from ._members import Diagnosis as Diagnosis, Equivalents as Equivalents, dee as dee, diagnose as diagnose

__version__: str
METHODS: List[str]
NETWORKS: List[str]
SCORES: List[str]
'''

REGRESSION = '''# Written by scripts/stubs.py from the library's cards.
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

def parameter(one: inspect.Parameter) -> str:
    """A parameter as a stub has it."""
    kind = "Any" if one.annotation in (inspect.Parameter.empty, Any) else one.annotation.__name__
    default = json.dumps(one.default) if isinstance(one.default, str) else repr(one.default)
    return f"{one.name}: {kind} = {default}"


def stub(card: Dict[str, Any]) -> str:
    """A score's function."""
    parameters = list(signature(card).parameters.values())
    listed = [parameter(one) for one in parameters]
    listed.insert([one.kind for one in parameters].index(inspect.Parameter.KEYWORD_ONLY), "*")
    lines = "".join(f"    {one},\n" for one in listed)
    text = doc(card).replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
    return f'def {function_name(card["name"])}(\n{lines}) -> float:\n    """{text}"""\n'


def stubs() -> Dict[str, str]:
    """The text of every stub file."""

    def of(task: str, head: str) -> str:
        functions: List[str] = [stub(card) for card in scores(task)]
        return "\n".join([head, *functions])

    return {"__init__.pyi": of("classification", INIT), "regression.pyi": of("regression", REGRESSION)}


if __name__ == "__main__":
    for name, text in stubs().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
