"""Jupyter runs the notebook from its first cell to its last."""

import pytest
from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")


def test_every_cell_runs_in_jupyter(tmp_path):
    notebook = nbformat.read(ROOT / "docs/python/tour.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()  # raises if a cell does
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output["data"] for output in outputs if output.output_type == "execute_result"]
    assert len(shown) >= 6
    assert sum("<table>" in data.get("text/html", "") for data in shown) >= 4, "results are tables on the page"
    assert not any(output.get("name") == "stderr" for output in outputs)
