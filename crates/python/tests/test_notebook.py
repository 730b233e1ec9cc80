"""The notebook, cell by cell, without Jupyter."""

import json
import os

import pytest

from conftest import ROOT

NOTEBOOK = ROOT / "crates" / "python" / "examples" / "train_and_search.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names = {"__name__": "notebook"}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["network"].kind == "nlm" and names["counts"].kind == "counts"
    assert names["steps"][-1]["goals"] == names["network"].record["goals"] > 0
    assert sum(one["h_FF"]["outcome"] == "solved" for one in names["rows"].values()) >= 6
    # The figures, for those who want to look at them.
    folder = os.environ.get("HOMING_FIGURES", tmp_path)
    for name in ("goals", "accuracy", "search"):
        path = os.path.join(folder, f"{name}.png")
        names[f"{name}_figure"].savefig(path, dpi=100)
        assert os.path.getsize(path) > 5_000
