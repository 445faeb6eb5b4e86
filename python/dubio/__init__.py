"""Does a model know what it does not know?

``dubio.evaluate(probs, labels)`` computes every score of predictive uncertainty in common use, with 95 %
intervals. Every score is also a function: ``dubio.ece(probs, labels, bins=10)``; ``help(dubio.ece)`` says what it
is. :mod:`dubio.regression` has those of regression. Numbers are those of the ``dubio`` command, to the last bit.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import _dubio, regression
from ._accumulator import Accumulator
from ._card import Score, Scores
from ._cards import METHODS, NETWORKS
from ._commands import Checks, Comparison, Study, check, compare, report, run
from ._errors import DataError, Error, FileError, PredictionError, SettingError, SuiteError
from ._evaluate import Calibration, calibrate, evaluate
from ._fit import Estimator, fit
from ._members import Diagnosis, Equivalents, dee, diagnose
from ._scores import add_classification

__version__: str = _dubio.__version__

#: Names of the functions that are scores of classification.
SCORES = add_classification(globals(), evaluate)


def __getattr__(name: str) -> Any:
    """Modules that need other packages are loaded when they are named: ``dubio.torch.predict``."""
    if name in ("lightning", "sklearn", "torch"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Accumulator",
    "Calibration",
    "Checks",
    "Comparison",
    "DataError",
    "Diagnosis",
    "Equivalents",
    "Error",
    "Estimator",
    "FileError",
    "METHODS",
    "NETWORKS",
    "PredictionError",
    "SCORES",
    "Score",
    "Scores",
    "SettingError",
    "Study",
    "SuiteError",
    "calibrate",
    "check",
    "compare",
    "dee",
    "diagnose",
    "evaluate",
    "fit",
    "regression",
    "report",
    "run",
    *SCORES,
]
