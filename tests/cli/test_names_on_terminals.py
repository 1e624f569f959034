"""Names of a description on a terminal: none of them moves its cursor or forges a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import linkwork as lw

HOSTILE = ("a\x9b2J", "b\u202etfel", "c\u2066d", "e\u2028f", "g\nerror: forged", "h\u061c", "i\x85")
UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    names = [name.replace("\n", "&#10;") for name in HOSTILE]
    links = "".join(f'<link name="{name}"/>' for name in names)
    joints = "".join(
        f'<joint name="j{b}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>'
        for a, b in pairwise(names)
    )
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="{names[4]}">{links}{joints}</robot>', encoding="utf-8")
    return file


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "options",
    [
        ("info", "--frames"),
        ("fk", "--all"),
        ("fk", "--frame", HOSTILE[4]),
        ("fk", "--frame", "nobody"),
        ("ik", "--frame", HOSTILE[4], "--xyz", "0 0 0"),
        ("check",),
    ],
)
def test_no_name_is_printed_raw(cli: Callable[..., Any], hostile: Path, options: tuple[str, ...]):
    command, *rest = options
    result = cli(command, hostile, *rest)
    printed = result.stdout + result.stderr
    assert printed and not UNFIT.search(printed), ascii(UNFIT.search(printed))
    assert not any(line.startswith("error: forged") for line in printed.splitlines())


def test_errors_are_legible(hostile: Path):
    robot = lw.load(hostile)
    for call in (
        lambda: robot.fk(robot.neutral(), "x\x9b\nforged"),
        lambda: robot.with_locked("\u202ex"),
    ):
        with pytest.raises(lw.LinkworkError) as caught:
            call()
        assert not UNFIT.search(str(caught.value)) and "\n" not in str(caught.value)
