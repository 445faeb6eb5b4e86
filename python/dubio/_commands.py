"""Checks, comparisons, reports and studies."""

from __future__ import annotations

import html
import os
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload

from ._arrays import ArrayIn
from ._call import Bar, call
from ._card import number
from ._evaluate import Predictions, cost_file, files_of


class Result(Mapping[str, Any]):
    """A command's result as plain data, as ``--json`` prints it."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Any:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def to_dict(self) -> Dict[str, Any]:
        """Plain lists and dictionaries."""
        return self._data

    def _rows(self) -> List[Dict[str, Any]]:
        """The table that stands for the result."""
        return []

    def to_pandas(self) -> Any:
        """The result's table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._rows())

    def to_polars(self) -> Any:
        """The result's table as a polars DataFrame."""
        import polars

        return polars.DataFrame(self._rows(), strict=False)

    def __repr__(self) -> str:
        rows = self._rows()
        if not rows:
            return f"{type(self).__name__}()"
        cells = [list(rows[0])] + [[_short(cell) for cell in row.values()] for row in rows]
        widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
        return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(line, widths)).rstrip() for line in cells)

    def _repr_html_(self) -> str:
        rows = self._rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else []))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_short(cell))}</td>" for cell in row.values()) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _short(cell: Any) -> str:
    if cell is None:
        return "—"
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)


class Checks(Result):
    """Posterior predictive checks; ``checks.passes`` says whether all pass."""

    @property
    def passes(self) -> bool:
        """Whether every statistic passes."""
        return all(row["passes"] for row in self["statistics"])

    def _rows(self) -> List[Dict[str, Any]]:
        kept = ("statistic", "observed", "p_value", "p_two_sided", "sharpness", "passes", "why")
        return [{key: row[key] for key in kept if key in row} for row in self["statistics"]]


def check(
    probs: Predictions = None,
    labels: Any = None,
    *,
    logits: Predictions = None,
    log_probs: Predictions = None,
    statistic: Union[str, Sequence[str]] = (),
    costs: Any = None,
    recalibrate_on: Predictions = None,
    **settings: Any,
) -> Checks:
    """Posterior predictive checks: could these labels have come from the model?

    ``statistic`` is a score's name or several. Further settings: ``mode`` (bayesian or independent),
    ``rule`` (interval or range), ``replicates``, ``recalibrate`` (per-member or one), ``bins``, ``seed``.
    ``recalibrate_on`` are predictions for the same examples before a shift, in the same form: temperatures are
    fitted on their leading fifth.
    """
    files: List[List[ArrayIn]] = []
    names = [statistic] if isinstance(statistic, str) else list(statistic)
    with cost_file(costs) as path:
        file = files_of(files, labels, probs=probs, logits=logits, log_probs=log_probs)
        if recalibrate_on is not None:
            form = "logits" if logits is not None else "log_probs" if log_probs is not None else "probs"
            settings["recalibrate_on"] = files_of(files, labels, **{form: recalibrate_on})
        return Checks(call("check", {"file": file, "statistics": names, "costs": path, **settings}, files))


class Comparison(Result):
    """Methods on the same examples: scores, a ranking, paired differences."""

    def _rows(self) -> List[Dict[str, Any]]:
        methods = [method["name"] for method in self["methods"]]
        return [
            {"score": f"{row['score']} {row['better']}".strip(), **dict(zip(methods, row["values"]))}
            for row in self["scores"]
        ]


def compare(models: Mapping[str, Predictions], labels: Any = None, *, form: str = "probs", **settings: Any) -> Comparison:
    """Methods on the same examples, by paired bootstrap.

    ``models`` are predictions by name, all in the same ``form``: probs, logits or log_probs. Further settings:
    ``score`` to rank by, ``scores``, ``members``, ``bins``, ``resamples``, ``seed``.
    """
    files: List[List[ArrayIn]] = []
    paths = [files_of(files, labels, **{form: model}) for model in models.values()]
    return Comparison(call("compare", {"files": paths, "names": list(models), **settings}, files))


_SEVERAL_FILES = ("csv", "svg", "pdf")


class Page(str):
    """The text of a report. A terminal or a notebook shows where it is, not the whole of it."""

    path: Optional[str]  #: the file that it was written to

    def __new__(cls, text: str, path: Optional[str] = None) -> "Page":
        page = super().__new__(cls, text)
        page.path = path
        return page

    def __repr__(self) -> str:
        place = "not written to a file" if self.path is None else f"in {self.path}"
        return f"<report of {len(self)} characters, {place}>"


@overload
def report(
    models: Union[Mapping[str, Predictions], str, "os.PathLike[str]"],
    labels: Any = None,
    path: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    form: str = "probs",
    format: Literal["html", "markdown", "latex"] = "html",
    costs: Any = None,
    **settings: Any,
) -> "Page": ...


@overload
def report(
    models: Union[Mapping[str, Predictions], str, "os.PathLike[str]"],
    labels: Any = None,
    path: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    form: str = "probs",
    format: Literal["csv", "svg", "pdf"],
    costs: Any = None,
    **settings: Any,
) -> Dict[str, bytes]: ...


def report(
    models: Union[Mapping[str, Predictions], str, "os.PathLike[str]"],
    labels: Any = None,
    path: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    form: str = "probs",
    format: str = "html",
    costs: Any = None,
    **settings: Any,
) -> Any:
    """Writes a report of models, or of a folder of runs, and returns it.

    ``models`` are predictions by name, or the path of a folder of runs. ``format`` is html, markdown or latex:
    then ``path`` is a file, and the text is returned. Or it is csv, svg or pdf, which have several files: then
    ``path`` is a folder, and the bytes of each file are returned by its name. Further settings: ``title``,
    ``resamples``, ``level``, ``baseline``, ``study``.
    """
    files: List[List[ArrayIn]] = []
    with cost_file(costs) as cost_path, tempfile.TemporaryDirectory() as folder:
        if isinstance(models, (str, os.PathLike)):
            asked: Dict[str, Any] = {"inputs": [os.fspath(models)]}
        else:
            inputs = [files_of(files, labels, **{form: model}) for model in models.values()]
            asked = {"inputs": inputs, "names": list(models)}
        how = {"format": format, "folder": folder, "costs": cost_path}
        names = call("report", {**asked, **how, **settings}, files)
        written = {name: Path(folder, name).read_bytes() for name in names}
    if format in _SEVERAL_FILES:
        if path is not None:
            os.makedirs(path, exist_ok=True)
            for name, content in written.items():
                Path(path, name).write_bytes(content)
        return written
    [page] = written.values()
    if path is not None:
        Path(path).write_bytes(page)
    return Page(page.decode("utf-8"), None if path is None else os.fspath(path))


class Study(Result):
    """What came of a study: ``scores``, ``failed``, and the path of its ``report``."""

    def _rows(self) -> List[Dict[str, Any]]:
        rows = []
        for row in self["scores"]:
            row = dict(row)
            row["value"] = number(row["value"])
            rows.append(row)
        return rows


def run(
    suite: Union[str, "os.PathLike[str]"],
    *,
    runs: Union[str, "os.PathLike[str]"] = "runs",
    data: Optional[str] = None,
    only: Sequence[str] = (),
    jobs: Optional[int] = None,
    progress: bool = True,
) -> Study:
    """Runs a study: what is not in the folder of runs yet, and a report of it all.

    ``suite`` is a suite's name or file. Ctrl-C stops after a checkpoint; the same call resumes.
    """
    name = "dubio.exe" if os.name == "nt" else "dubio"
    program = os.path.join(sysconfig.get_path("scripts"), name)
    asked = {
        "suite": os.fspath(suite),
        "jobs": jobs,
        "only": list(only),
        "places": {"runs": os.fspath(runs), "data": data},
        "program": program if os.path.exists(program) else name,
    }
    if not progress:
        return Study(call("run", asked))
    bar = Bar()
    try:
        return Study(call("run", asked, tell=bar))
    finally:
        bar.end()
