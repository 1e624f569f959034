"""What ``linkwork simulate`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from linkwork.cli.arguments import Json, RobotArguments, Threads, text_option, value_option

_OUTPUT, _FORCES = "Output", "Forces"


@dataclass(frozen=True, kw_only=True)
class SimulateArguments(RobotArguments):
    """Simulate a robot: let it fall, or hold it with a controller, and see how it moves.

    Without --kp no motor acts: gravity moves the robot. With it, every joint is pulled towards
    --target, by default where it begins; of a mechanism with loops, every actuated joint. The exit
    code is 0 when the simulation went to its end, 1 when it diverged on the way (what was computed
    is kept), 2 when the input is wrong.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork simulate ur5e --duration 2",
        "linkwork simulate panda --kp 200 --kd 20 --armature 0.1 --save r.npz",
        "linkwork simulate five_bar --kp 50 --kd 5 --target left=0.4",
        "linkwork simulate quadruped --floating --method dopri5 --gravity '0 0 0'",
    )

    duration: Annotated[float, value_option("--duration", "S", "How long, in seconds.")] = 1.0
    q0: Annotated[
        list[str] | None, text_option("--q0", metavar="Q", text="Positions to begin with.")
    ] = None
    v0: Annotated[
        str | None,
        text_option("--v0", metavar='"V ..."', text="Velocities to begin with; default: at rest."),
    ] = None
    method: Annotated[
        str,
        value_option(
            "--method", "NAME", "rk4, euler (semi-implicit), dopri5 (adaptive) or implicit."
        ),
    ] = "rk4"
    dt: Annotated[
        float, value_option("--dt", "S", "The step; for dopri5 the time between kept states.")
    ] = 1.0e-3
    tolerance: Annotated[
        float, value_option("--tolerance", "X", "For dopri5: the error of a step, at most.")
    ] = 1.0e-8
    record: Annotated[
        int, value_option("--record", "K", "Keep every K-th state; 0: first and last.")
    ] = 1
    kp: Annotated[
        str | None,
        text_option(
            "--kp", metavar="K", text="Stiffness of the controller: one number, or one for each "
            "degree of freedom, or each actuated joint.", panel=_FORCES,
        ),
    ] = None  # fmt: skip
    kd: Annotated[
        str | None,
        text_option("--kd", metavar="K", text="Damping of the controller.", panel=_FORCES),
    ] = None
    target: Annotated[
        list[str] | None,
        text_option("--target", metavar="Q", text="Positions to hold.", panel=_FORCES),
    ] = None
    torque: Annotated[
        str | None,
        text_option("--torque", metavar='"F ..."', text="Constant forces.", panel=_FORCES),
    ] = None
    gravity: Annotated[
        str | None,
        text_option(
            "--gravity", metavar='"X Y Z"', text="Free-fall acceleration in the world, m/s².",
            panel=_FORCES,
        ),
    ] = None  # fmt: skip
    losses: Annotated[
        bool,
        typer.Option(
            "--losses", help="Damping and friction of the description count.",
            rich_help_panel=_FORCES,
        ),
    ] = False  # fmt: skip
    armature: Annotated[
        str | None,
        text_option(
            "--armature", metavar="I", text="Inertia of rotors, times the gear ratio squared.",
            panel=_FORCES,
        ),
    ] = None  # fmt: skip
    stops: Annotated[
        bool, typer.Option("--stops", help="Joint limits hold, softly.", rich_help_panel=_FORCES)
    ] = False
    plot: Annotated[
        str | None,
        text_option(
            "--plot", metavar="FILE", text="Draw positions, velocities, forces and energies: .png, "
            ".svg or .pdf.", panel=_OUTPUT,
        ),
    ] = None  # fmt: skip
    save: Annotated[
        str | None,
        text_option(
            "--save", metavar="FILE", text="Write all states: .npz, or .csv.", panel=_OUTPUT
        ),
    ] = None
    threads: Threads = None
    json: Json = False
