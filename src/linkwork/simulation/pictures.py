"""Figures of simulations: positions, velocities, forces and energies over time.

What every figure of the library shares (colours, lines, legends, figures that notebooks show) is
here too. Imported where something is drawn, since it needs matplotlib.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork import extras
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.mechanism.named_positions import labels
from linkwork.simulation.result import row_index

with extras.needed("plots need", "matplotlib", "plot"):
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from linkwork.simulation.result import Simulation

_MOST_NAMED = 14  # lines above which a legend hides more than it tells
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999",
)  # fmt: skip
"""Told apart by colour-blind people too. Source: M. Okabe, K. Ito, Color Universal Design, 2008."""

MOST_OPEN = 10
"""So many figures of simulations pyplot keeps; the oldest goes when one more is drawn. Whoever
holds it may still save it."""


def picture(
    simulation: Simulation,
    joints: str | Sequence[str] | None,
    row: int | tuple[int, ...] | None,
    figure: Any = None,
) -> Any:
    """A matplotlib figure of one roll-out, a new one of pyplot's unless one is given.

    Raises: UnknownNameError for a joint, InputError for a row that is not there.
    """
    m = simulation.mechanism
    index = row_index(simulation, row)
    chosen = chosen_numbers(m, joints)
    if figure is None:
        figure = new_figure()
    times = simulation.times
    forces, pushed = simulation.torques[index], chosen[1]
    if m.actuated:  # of joints without actuators only those that push
        driven = {k for n in m.actuated for k in chosen_numbers(m, n)[1]}
        pushed = [k for k in pushed if k in driven or forces[:, k].any()] or pushed
    axes: Any = figure.subplots(4, 1, sharex=True)
    panels = (
        ("position", simulation.q[index], chosen[0], labels(m, velocities=False)),
        ("velocity", simulation.v[index], chosen[1], labels(m, velocities=True)),
        ("force", forces, pushed, labels(m, velocities=True)),
    )
    for axis, (what, values, numbers, names) in zip(axes, panels, strict=False):
        # a joint's colour is that of its speed
        orders = [chosen[what != "position"].index(k) for k in numbers]
        draw_lines(axis, times, values[:, numbers], [names[k] for k in numbers], orders)
        axis.set_ylabel(f"{what} ({units(m, numbers, what)})")
        if len(numbers) <= _MOST_NAMED:
            legend_beside(axis)
    energies = (simulation.kinetic_energy, simulation.potential_energy, simulation.energy)
    values = np.stack([energy[index] for energy in energies], axis=-1)
    draw_lines(axes[3], times, values, ("kinetic", "potential", "together"), (0, 1, 6))
    axes[3].set_ylabel("energy (J)")
    axes[3].set_xlabel("time (s)")
    legend_beside(axes[3])
    for axis in axes:
        axis.grid(visible=True, alpha=0.3)
        axis.margins(x=0.0)
    figure.align_ylabels(axes)
    number = f", roll-out [{', '.join(map(str, index))}]" if index else ""
    why = simulation.reason_for(*index)
    lines = [] if why == "finished" else wrap(why, 90)[:3]
    figure.suptitle("\n".join([f"{m.name}{number}", *lines]))
    return figure


def draw_lines(
    axis: Any, times: Floats, values: Floats, names: Sequence[str], orders: Iterable[int]
) -> None:
    """Lines of values (n, k) over times (n,), each in the colour and style of its number."""
    for column, name, order in zip(values.T, names, orders, strict=True):
        style = ("-", "--", ":")[order // len(COLOURS) % 3]
        colour = COLOURS[order % len(COLOURS)]
        axis.plot(times, column, style, color=colour, label=name, linewidth=1.2)


def legend_beside(axis: Any) -> None:
    """The legend of an axes at its right, where it hides nothing."""
    axis.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def chosen_numbers(m: Mechanism, joints: str | Sequence[str] | None) -> tuple[list[int], list[int]]:
    """Indices of q and of v of these joints; by default all.

    Raises: UnknownNameError.
    """
    named = [joints] if isinstance(joints, str) else joints
    coordinates = range(len(m.joint_names)) if named is None else [m.joint(n) for n in named]
    return m.q_indices(coordinates), m.v_indices(coordinates)


_UNITS = {"position": ("rad", "m"), "velocity": ("rad/s", "m/s"), "force": ("N m", "N")}


def units(m: Mechanism, numbers: Sequence[int], what: str) -> str:
    """The units of these numbers, one or both."""
    kinds = m.kinds_of_q if what == "position" else m.kinds_of_v
    turning = [kinds[k] != "length" for k in numbers]
    angle, length = _UNITS[what]
    return angle if all(turning) else length if not any(turning) else f"{angle}, {length}"


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


def new_figure(size: tuple[float, float] = (9.0, 9.0)) -> Figure:
    """An empty figure of this width and height (inches) that `plt.show()` shows.

    Windows belong to the main thread, so figures of other threads are not pyplot's.
    """
    if threading.current_thread() is not threading.main_thread():
        return Picture(figsize=size, layout="constrained")
    known = [plt.figure(number) for number in plt.get_fignums()]
    pictures = [figure for figure in known if isinstance(figure, Picture)]
    for figure in pictures[: max(0, len(pictures) + 1 - MOST_OPEN)]:
        plt.close(figure)
    return plt.figure(FigureClass=Picture, figsize=size, layout="constrained")
