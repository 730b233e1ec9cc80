"""The examples of the documents are run."""

import re
import subprocess
import sys

import pytest

from conftest import ROOT


def blocks(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("document", "count"),
    [("README.md", 1), ("docs/python.md", 2)],
)
def test_examples_run(document, count, tmp_path):
    """The first blocks of a document are one program, in a folder that has the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = "\n".join(blocks(document)[:count])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("solved")
    assert (tmp_path / "warehouse.safetensors").stat().st_size > 0
