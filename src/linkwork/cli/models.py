"""``linkwork models``: the bundled robots."""

from __future__ import annotations

import dataclasses

from linkwork import models
from linkwork.cli import output
from linkwork.cli.arguments import ModelsArguments
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable


def run(given: ModelsArguments) -> None:
    """Print the catalogue."""
    if given.json:
        listed = [dataclasses.asdict(model) for model in models.MODELS.values()]
        output.print_json({"models": listed})
        return
    shown = TextTable(("model", "degrees\nof freedom", "main\nframe", "what it is"))
    for model in models.MODELS.values():
        shown.add_row(model.name, str(model.degrees_of_freedom), model.tip, model.summary)
    screen = Screen()
    screen.print(shown, "")
    screen.print("Degrees of freedom are those with a fixed base. Try: linkwork info ur5e")
