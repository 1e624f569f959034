"""What `linkwork assemble` takes is explained in its help, which loads no NumPy."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from linkwork.cli.closed_arguments import AssembleArguments


def test_every_option_is_in_the_help_with_a_sentence(cli: Callable[..., Any]):
    text = " ".join(cli("assemble", "--help", env={"COLUMNS": "250"}).stdout.split())
    hints = get_type_hints(AssembleArguments, include_extras=True)
    for field in dataclasses.fields(AssembleArguments):
        info = get_args(hints[field.name])[-1]
        assert info.help.endswith(".") and info.help in text
        for option in info.param_decls or ():
            assert option in text


def test_the_arguments_load_neither_numpy_nor_a_compiler():
    code = (
        "import sys; import linkwork.cli.closed_arguments; "
        "assert not {'numpy', 'casadi', 'llvmlite', 'yaml'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
