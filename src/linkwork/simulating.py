"""Simulation of a robot: the public call, with the compiler and the threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from linkwork import settings
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.simulation.inputs import Options
from linkwork.simulation.time_loop import Library, run

if TYPE_CHECKING:
    from linkwork.robot import Robot
    from linkwork.simulation.inputs import Event, Progress
    from linkwork.simulation.joint_forces import PD, Stops
    from linkwork.simulation.result import Simulation

Method = Literal["rk4", "euler", "dopri5", "implicit"]


def simulate(  # noqa: PLR0913  one call with every choice by name
    robot: Robot | Mechanism,
    q0: ArrayLike | Mapping[str, Any],
    v0: ArrayLike | Mapping[str, Any] | None = None,
    duration: float = 1.0,
    *,
    torque: PD | ArrayLike | Callable[..., ArrayLike] | None = None,
    method: Method = "rk4",
    dt: float = 1.0e-3,
    tolerance: float = 1.0e-8,
    gravity: Any = None,
    external: Mapping[str, Any] | None = None,
    payload: Mapping[str, Any] | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
    stops: Stops | bool | None = None,
    events: Sequence[Event | Callable[..., float]] = (),
    record: int = 1,
    max_speed: float = 1.0e5,
    max_step: float | None = None,
    max_steps: int | None = None,
    breakpoints: Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Roll a robot out from positions q0 (..., nq) and velocities v0 (..., nv), by default at rest.

    Both may be given by name, {joint: number}: the other joints are then neutral, and at rest.
    ``torque``: none, constant forces (..., nv), `PD` control, or a function of (t, q, v) that gives
    the forces (..., nv) of the whole batch; t is (..., 1) where rows have steps of their own.
    ``method``: "rk4" or "euler" (semi-implicit) with steps of ``dt``, "implicit" for stiff forces,
    "dopri5" with steps that keep the local error below ``tolerance``, which then gives states every
    ``dt`` and finds ``events``. Its steps end at ``breakpoints``, instants at which functions of
    time jump, and are ``max_step`` long at most, by default without bound where breakpoints are
    given or no function of time acts, else ``dt``; ``max_steps`` of them are made, by default
    100,000 or a hundred for each dt.
    ``gravity`` (..., 3) in the world; ``external`` {frame: wrench (..., 6)}, force and moment about
    the frame's origin along the axes of the world; ``payload`` {frame: mass, or (..., 4) of mass
    and where it is in the frame}, point masses (others: `Robot.with_payload`); ``losses``: damping,
    friction and springs of the description count; ``armature`` (..., nv) replaces that of the
    description; ``stops``: True or `Stops`, joint limits push back.
    Every ``record``-th step is kept, and the last. A roll-out in which a joint moves faster than
    ``max_speed`` stops there and says so; the others go on. ``progress(done, total)`` is called now
    and then.

    Units: m, rad, s, kg, N. Raises: ShapeError, InputError, UnknownNameError before anything is
    computed; a roll-out that diverges raises nothing: see `Simulation.finished` and ``reason``.
    """
    mechanism: Any = robot if isinstance(robot, Mechanism) else getattr(robot, "mechanism", None)
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"what is simulated is a Robot, as linkwork.load gives, not {robot!r:.40}")
    options = Options(
        duration=duration, torque=torque, method=method, dt=dt, tolerance=tolerance,
        gravity=gravity, external=external, payload=payload, losses=losses, armature=armature,
        stops=stops, events=events, record=record, max_speed=max_speed, max_step=max_step,
        max_steps=max_steps, breakpoints=breakpoints,
    )  # fmt: skip
    threads = settings.most_threads() if threads is None else threads
    try:
        result = run(
            mechanism, q0, v0, options, library=_library(), threads=threads, progress=progress
        )
    except MemoryError as error:
        raise InputError(
            f"the states that are to be kept do not fit into memory ({error}): keep fewer of them "
            "by record=, or simulate fewer rows at once"
        ) from None
    return replace(result, document=getattr(robot, "document", None))


@cache
def _library() -> Library:
    """The library of what this process has compiled for simulations."""
    return Library(settings.compiler(), remake=_library)
