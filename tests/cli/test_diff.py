"""``linkwork diff``: what differs, exit codes, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Exit

from linkwork.cli import diff as command
from linkwork.cli.arguments import DiffArguments
from linkwork.errors import DescriptionError, InputError
from linkwork.formats.urdf.diff import diff
from linkwork.formats.urdf.read import read

TEXT = (
    '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
)
VARIANTS = {
    "same": TEXT.replace("><", ">\n<").replace('"1"', '"1.0"'),
    "limit": TEXT.replace('upper="1"', 'upper="1.5"'),
    "material": TEXT.replace("</robot>", '<material name="m"/></robot>'),
}

Diff = Callable[..., tuple[int, str]]


@pytest.fixture(name="diff_of")
def _diff_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Diff:
    """Run the command's module on two of the variants: the exit code, and what it printed."""
    for name, text in {"a": TEXT, **VARIANTS}.items():
        (tmp_path / f"{name}.urdf").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(before: str, after: str, **options: Any) -> tuple[int, str]:
        code = 0
        try:
            command.run(DiffArguments(before=f"{before}.urdf", after=f"{after}.urdf", **options))
        except Exit as done:
            code = done.exit_code
        return code, capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", ["a", "same"])
def test_descriptions_that_say_the_same(diff_of: Diff, name: str):
    assert diff_of("a", name) == (0, "no differences\n")


@pytest.mark.parametrize("name", ["limit", "material"])
def test_descriptions_that_differ(diff_of: Diff, name: str):
    code, text = diff_of("a", name)
    assert code == 1
    *lines, last = text.splitlines()
    assert "\n".join(lines) == str(diff(read("a.urdf"), read(f"{name}.urdf")))
    assert last == {"limit": "1 changed", "material": "1 added"}[name]
    if name == "material":
        assert diff_of(name, "a")[1].splitlines()[-1] == "1 removed"


def test_tolerance(diff_of: Diff):
    assert diff_of("a", "limit", tolerance=0.5)[0] == 0
    assert diff_of("a", "limit", tolerance=0.4)[0] == 1
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="--tolerance"):
            diff_of("a", "limit", tolerance=wrong)


def test_json(diff_of: Diff):
    code, text = diff_of("a", "limit", json=True)
    given = json.loads(text)
    assert code == 1
    assert given["same"] is False
    (change,) = given["changes"]
    assert change == {
        "kind": "changed",
        "path": "joint 'j' / limit / upper",
        "before": 1.0,
        "after": 1.5,
    }
    added = json.loads(diff_of("a", "material", json=True)[1])["changes"][0]
    assert (added["kind"], added["before"], added["after"]["name"]) == ("added", None, "m")
    assert json.loads(diff_of("a", "same", json=True)[1]) == {
        "before": "a.urdf",
        "after": "same.urdf",
        "same": True,
        "changes": [],
    }


def test_a_file_that_cannot_be_read(diff_of: Diff):
    with pytest.raises(DescriptionError, match="there is no such file"):
        diff_of("a", "none")
