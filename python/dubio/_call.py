"""Commands of the library: settings in, results out, progress told."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _dubio
from ._arrays import ArrayIn
from ._errors import SettingError

Tell = Callable[[str, int, int, List[str]], None]


def threads() -> int:
    """As many as ``RAYON_NUM_THREADS`` says, else one for each core; results do not depend on it."""
    text = os.environ.get("RAYON_NUM_THREADS", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def quiet(_stage: str, _done: int, _total: int, notes: List[str]) -> None:
    """Tells of nothing but warnings."""
    for note in notes:
        warnings.warn(note[len("warning: ") :] if note.startswith("warning: ") else note, stacklevel=2)


class Bar:
    """A line on standard error that is written over: in a notebook as in a terminal. Quick work shows none."""

    QUICK, BETWEEN = 1.0, 0.2  # seconds

    def __init__(self) -> None:
        self.last = time.monotonic() + self.QUICK - self.BETWEEN
        self.shown = False

    def __call__(self, stage: str, done: int, total: int, notes: List[str]) -> None:
        quiet(stage, done, total, notes)
        now = time.monotonic()
        if total and now - self.last > self.BETWEEN:
            self.last, self.shown = now, True
            full = min(30, 30 * done // total)
            print(f"\r{stage} [{'#' * full}{' ' * (30 - full)}] {100 * done // total:3d} %", end="", file=sys.stderr)

    def end(self) -> None:
        if self.shown:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr)


def as_json(settings: Mapping[str, Any]) -> str:
    """Settings as the library reads them: JSON, which has no NaN and no infinity."""
    for name, value in settings.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise SettingError(f"{name}: expected a finite number, got {value}")
    return json.dumps(settings, default=_plain)


def _plain(value: Any) -> Any:
    """A number or an array of NumPy, a path, or any other sequence."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else list(value)


def call(command: str, settings: Any, files: Sequence[Sequence[ArrayIn]] = (), tell: Tell = quiet) -> Any:
    """The result of a command."""
    return called(command, settings, files, tell)[0]


def called(
    command: str, settings: Any, files: Sequence[Sequence[ArrayIn]] = (), tell: Tell = quiet
) -> Tuple[Any, Optional[npt.NDArray[np.float32]]]:
    """The result of a command, and its numbers."""
    text, numbers = _dubio.call(command, as_json(settings), [list(file) for file in files], threads(), tell)
    return json.loads(text), None if numbers is None else array_of(*numbers)


def array_of(data: bytes, shape: Sequence[int]) -> npt.NDArray[np.float32]:
    """Numbers of the extension as an array that may be written to."""
    return np.frombuffer(data, dtype=np.float32).reshape(shape).copy()
