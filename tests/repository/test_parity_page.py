"""docs/parity.md is what the generator writes, and the generator shows every row once."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import parity
import pytest

from linkwork.faces.table import FACES, FaceEntry

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools" / "docs" / "parity_page.py"


@pytest.fixture(name="tool", scope="module")
def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("parity_page", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


def test_the_committed_page_is_the_generated_one():
    line = [sys.executable, str(GENERATOR), "--check"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("entry", FACES, ids=lambda entry: entry.name)
def test_every_row_stands_in_the_page_once(entry: FaceEntry):
    text = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\S+) \| .* \| (?:better|missing) \|", text, re.MULTILINE)
    listed += re.findall(r"^- .* \((\S+)\)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {row.id for row in parity.read(entry.name).rows} <= set(listed)


def test_a_made_up_page(tool: ModuleType):
    entry = FaceEntry("old", {"Old.lib": "x", "Old.lib.utils": "x"})
    rows = (
        parity.Row("A-1", "f", "same"),
        parity.Row("A-2", "an example | in words", "better", "a | b\nc"),
        parity.Row("A-3", "g", "missing", "later"),
    )
    record = parity.Parity("old", "1.2", "https://example.org", rows)
    text = tool.page([(entry, record)])
    assert "| [old](#old) | 1 | 1 | 1 |" in text
    assert "## old\n\nModules: `Old.lib`, `Old.lib.utils`. Compared with version 1.2" in text
    assert "| A-2 | an example \\| in words | better | a \\| b c |" in text
    assert "| A-3 | `g` | missing | later |" in text
    assert text.endswith("\n- `f` (A-1)\n")
    alone = parity.Parity("old", "1.2", "https://example.org", rows[:1])
    assert "| row |" not in tool.page([(entry, alone)])


def test_public_names_in_a_made_up_page(tool: ModuleType):
    entry = FaceEntry("old", {"old": "x"})
    names = tuple(parity.OriginalName("old", name) for name in ("a", "b", "c"))
    all_there = parity.Parity("old", "1.2", "https://example.org", (), names)
    assert tool.page([(entry, all_there)]).endswith(
        "Of 3 public names of the original, 3 are there.\n"
    )
    record = parity.Parity("old", "1.2", "https://example.org", (), names, {"old.b": "x | y"})
    text = tool.page([(entry, record)])
    assert "Of 3 public names of the original, 2 are there; these are not:" in text
    assert text.endswith("| `old.b` | x \\| y |\n")
