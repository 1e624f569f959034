"""What the commands that run programs take is explained in their help."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

from linkwork.cli import program_arguments

CLASSES = {
    "run": program_arguments.RunArguments,
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_option_is_in_the_help_with_a_sentence(cli: Callable[..., Any], name: str):
    text = " ".join(cli(name, "--help", env={"COLUMNS": "250"}).stdout.split())
    hints = get_type_hints(CLASSES[name], include_extras=True)
    for field in dataclasses.fields(CLASSES[name]):
        info = get_args(hints[field.name])[-1]
        assert info.help
        assert info.help.endswith(".")
        assert info.help in text
        for option in info.param_decls or ():
            assert option.split("/")[0] in text


@pytest.mark.parametrize(
    ("given", "apart"),
    [
        ([], []),
        (["a.py", "-x"], ["--", "a.py", "-x"]),
        (["--as", "urdfpy", "a.py", "--as", "b"], ["--as", "urdfpy", "--", "a.py", "--as", "b"]),
        (["--as=urdfpy", "a.py", "-m", "b"], ["--as=urdfpy", "--", "a.py", "-m", "b"]),
        (["-m", "pip", "--help"], ["-m", "pip", "--", "--help"]),
        (["-mpip", "--help"], ["-m", "pip", "--", "--help"]),
        (["-c", "print()", "-h"], ["-c", "print()", "--", "-h"]),
        (
            ["--allow", "a", "--load-meshes", "--allow=b", "x.py", "--allow", "c"],
            ["--allow", "a", "--load-meshes", "--allow=b", "--", "x.py", "--allow", "c"],
        ),
        (["-", "x"], ["--", "-", "x"]),
        (["--help"], ["--help"]),
        (["-m"], ["-m"]),
    ],
)
def test_a_programs_own_words_are_cut_off(given: list[str], apart: list[str]):
    assert program_arguments.program_apart(given) == apart
