"""Scores agree with those of other packages, by the option that conventions.py names. What is not installed is skipped."""

import conventions
import pytest


@pytest.mark.parametrize("row", conventions.rows(), ids=lambda row: f"{row[0]}, {row[1]}")
def test_a_score_agrees_with_another_package(row):
    name, other, ours, theirs, _ = row
    try:
        expected = theirs()
    except ImportError as missing:
        pytest.skip(f"{missing.name} is not installed")
    except TypeError as old:
        if "scale_by_half" not in str(old):
            raise
        pytest.skip("scikit-learn before 1.7, the last for CPython 3.9, has no Brier score of several classes")
    single = "torchmetrics" in other  # it computes in single precision
    assert ours() == pytest.approx(expected, rel=1e-6 if single else 1e-12), name
    listed = conventions.FILE.read_text()
    assert f"| `{name}` | {other} |" in listed, "python scripts/conventions.py writes the table again"
