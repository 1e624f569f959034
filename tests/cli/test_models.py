"""The list of bundled models."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from linkwork import models


def test_every_model_is_listed(cli: Callable[..., Any]):
    result = cli("models")
    assert result.exit_code == 0
    for model in models.MODELS.values():
        line = next(x for x in result.stdout.splitlines() if x.startswith(f"{model.name} "))
        assert line.split()[1:3] == [str(model.degrees_of_freedom), model.tip]


def test_json(cli: Callable[..., Any]):
    read = json.loads(cli("models", "--json").stdout)
    assert read == {"models": [dataclasses.asdict(m) for m in models.MODELS.values()]}
