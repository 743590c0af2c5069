"""`docs/notebook.ipynb` runs from its first cell to its last, and shows what came out.

jupyter execute --inplace docs/notebook.ipynb    # shows it anew
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_outputs_are_kept_and_come_from_one_execution() -> None:
    assert NOTEBOOK.stat().st_size < 300_000
    assert [cell["execution_count"] for cell in cells()] == list(range(1, len(cells()) + 1))
    assert sum(bool(cell["outputs"]) for cell in cells()) >= len(cells()) - 2
    assert not [one for cell in cells() for one in cell["outputs"] if one["output_type"] == "error"]
    assert any("image/png" in one.get("data", {}) for cell in cells() for one in cell["outputs"])


def test_nothing_of_a_machine_is_in_it() -> None:
    shown = json.dumps([cell["outputs"] for cell in cells()], ensure_ascii=False)
    shown = re.sub(r'"image/png": "[^"]*"', "", shown)
    assert not re.findall(r"(?<![\w<])/(?:home|tmp|root|work|Users|var|opt)/\S*", shown)
    assert "Warning" not in shown


@pytest.mark.full
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel, as people run it: DuckDB refused to open a store in one that lacks ipywidgets."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parents[1]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    before = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    client = NotebookClient(notebook, timeout=590, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    after = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output["output_type"] for output in after] == [output["output_type"] for output in before]
    assert (tmp_path / "drinks-data" / "croissant.json").is_file()
    assert (tmp_path / "drinks.duckdb").is_file()
