"""What the commands for descriptions take is explained in their help."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

from linkwork.cli import document_arguments

CLASSES = {
    "check": document_arguments.CheckArguments,
    "diff": document_arguments.DiffArguments,
    "convert": document_arguments.ConvertArguments,
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
