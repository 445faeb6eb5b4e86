"""Scores as they are shown, looked up and handed on."""

from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple


class Score(NamedTuple):
    """A score: its value, its 95 % interval and the number of examples behind it."""

    name: str
    value: Optional[float]
    lo: Optional[float]
    hi: Optional[float]
    n: int
    why: Optional[str] = None

    @property
    def interval(self) -> Optional[Tuple[float, float]]:
        """The 95 % interval of the bootstrap; ``None`` where there is none."""
        return None if self.lo is None or self.hi is None else (self.lo, self.hi)

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.name} has no value: {self.why}")
        return self.value


def number(value: Any) -> Optional[float]:
    """A number of the library's JSON, where infinity is text."""
    return None if value is None else float(value)


class Scores(Mapping[str, Score]):
    """Every score of some predictions, by name: ``card["ece"].value``, ``card["ece"].interval``."""

    def __init__(self, scores: List[Score]) -> None:
        self._scores = {score.name: score for score in scores}

    @classmethod
    def read(cls, rows: List[Dict[str, Any]]) -> "Scores":
        """From the library's results."""
        return cls(
            [
                Score(row["name"], number(row["value"]), row["lo"], row["hi"], row["n"], row.get("why"))
                for row in rows
            ]
        )

    def __getitem__(self, name: str) -> Score:
        try:
            return self._scores[name]
        except KeyError:
            raise KeyError(f"{name}; there are {', '.join(self._scores)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def to_dict(self) -> Dict[str, Dict[str, Any]]:
        """What ``dubio evaluate --json`` prints, infinity as a float."""
        rows = {}
        for score in self._scores.values():
            row = score._asdict()
            del row["name"]
            if score.why is None:
                del row["why"]
            rows[score.name] = row
        return rows

    def to_pandas(self) -> Any:
        """A pandas DataFrame, a row for each score."""
        import pandas

        frame = pandas.DataFrame(list(self._scores.values()), columns=list(Score._fields))
        return frame.set_index("name")

    def to_polars(self) -> Any:
        """A polars DataFrame, a row for each score."""
        import polars

        columns = {field: [getattr(s, field) for s in self._scores.values()] for field in Score._fields}
        return polars.DataFrame(columns, strict=False)

    def __repr__(self) -> str:
        width = max([len(name) for name in self._scores] + [5])
        lines = [f"{'score':<{width}} {'value':>12}  95 % interval"]
        for score in self._scores.values():
            ends = score.interval
            interval = f"[{_short(ends[0])}, {_short(ends[1])}]" if ends else ""
            line = f"{score.name:<{width}} {_short(score.value):>12}  {interval:<26} {score.why or ''}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for score in self._scores.values():
            ends = score.interval
            interval = f"[{_short(ends[0])}, {_short(ends[1])}]" if ends else ""
            cells = [score.name, _short(score.value), interval, score.why or ""]
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        head = "<tr><th>score</th><th>value</th><th>95 % interval</th><th></th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _short(value: Optional[float]) -> str:
    if value is None:
        return "—"
    return f"{value:.5g}" if math.isfinite(value) else str(value)
