"""The examples of the documents are run."""

import importlib.util
import re
import subprocess
import sys

import pytest

from conftest import ROOT


def blocks(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def can_run(block):
    """Whether what the block imports is installed."""
    return all(
        importlib.util.find_spec(name) is not None
        for name in ("unified_planning", "gymnasium")
        if re.search(rf"^(import|from) {name}\b", block, flags=re.MULTILINE)
    )


@pytest.mark.parametrize(("document", "count"), [("README.md", 1), ("docs/python.md", 6)])
def test_examples_run(document, count, tmp_path):
    """The blocks of a document are one program, in a folder that has the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    found = blocks(document)
    assert len(found) == count
    left_out = [block for block in found if not can_run(block)]
    program = "\n".join(block for block in found if block not in left_out)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("solved")
    assert (tmp_path / "warehouse.safetensors").stat().st_size > 0
    if document == "docs/python.md":
        # The mistake of the last block is found, at its place.
        assert "mistaken.pddl" in done.stdout
    if left_out:
        pytest.skip(f"{len(left_out)} blocks were left out: their packages are not installed")
