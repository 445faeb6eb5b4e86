"""The notebook runs from its first cell to its last."""

import ast
import json

from conftest import ROOT


def test_every_cell_runs():
    cells = json.loads((ROOT / "docs/python/tour.ipynb").read_text())["cells"]
    names, shown = {}, 0
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        # As a notebook does, show what the last line gives.
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown += bool(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    assert shown >= 6
