"""The figure that a simulation is drawn in: pyplot knows it, and notebooks show it once.

Imported where something is drawn, since it needs matplotlib.
"""

from __future__ import annotations

import threading
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

MOST_OPEN = 10
"""So many figures of simulations pyplot keeps; the oldest goes when one more is drawn. Whoever
holds it may still save it."""

_SHAPE: dict[str, Any] = {"figsize": (9.0, 9.0), "layout": "constrained"}


class Picture(Figure):
    """A figure that a notebook shows where it is the last expression of a cell."""

    def _repr_png_(self) -> bytes:
        drawn = BytesIO()
        self.savefig(drawn, format="png")
        return drawn.getvalue()

    def _repr_mimebundle_(self, **_which: Any) -> dict[str, Any]:
        # The inline backend shows all figures that pyplot has when a cell ends: this one is being
        # shown already.
        if "inline" in plt.get_backend():
            plt.close(self)
        return {}


def new_figure() -> Figure:
    """An empty figure that `plt.show()` shows.

    Windows belong to the main thread, so figures of other threads are not pyplot's.
    """
    if threading.current_thread() is not threading.main_thread():
        return Picture(**_SHAPE)
    known = [plt.figure(number) for number in plt.get_fignums()]
    pictures = [figure for figure in known if isinstance(figure, Picture)]
    for figure in pictures[: max(0, len(pictures) + 1 - MOST_OPEN)]:
        plt.close(figure)
    return plt.figure(FigureClass=Picture, **_SHAPE)
