"""What every command takes: one class a command, whose docstring is its help.

This file loads neither NumPy nor a compiler, so that ``--help`` is quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

import typer

_ROBOT, _OUTPUT, _POSITION = "Robot", "Output", "Joint positions"
_SOURCE = "A URDF file, or the name of a bundled model."
_LOCK = "Hold a joint at a position. May be given several times."
_FROM = "Base the poses on this frame, and keep only the joints from there to the frame asked for."
_FLOATING = "Let the root link move freely in space."
_Q = (
    "Joint positions: all numbers in quotes, or name=value. May be given several times. "
    "Joints that are not named stay neutral."
)
_Q_FILE = "Joint positions from a .csv or .npy file, one configuration a row."
_FRAME = "The frame; by default the only link at an end."
_DEG = (
    "Angles in degrees where they are typed and printed: joint positions, roll, pitch and yaw. "
    "Files, --json and --task stay in radians."
)
_JSON = "Print JSON, and nothing else."
_THREADS = "Threads, at most; by default one for each core."


def text_option(*names: str, metavar: str, text: str, panel: str | None = None) -> Any:
    """An option that takes a piece of text, and has no value where it is not given."""
    return typer.Option(
        *names, metavar=metavar, help=text, rich_help_panel=panel, show_default=False
    )


def complete_model(incomplete: str) -> list[str]:
    """Bundled models for a shell's completion; it offers files where none fits."""
    from linkwork.models import MODELS  # noqa: PLC0415  wanted while completing alone

    return [name for name in MODELS if name.startswith(incomplete)]


def _out(kinds: str) -> Any:
    """The option that names the file to write."""
    text = f"Write the result to this file as well: {kinds}."
    return text_option("--out", metavar="FILE", text=text, panel=_OUTPUT)


def value_option(name: str, metavar: str, text: str, least: int | None = None) -> Any:
    """An option with a default that is shown."""
    return typer.Option(name, metavar=metavar, help=text, min=least)


Source: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME", help=_SOURCE, show_default=False, autocompletion=complete_model
    ),
]
Lock: TypeAlias = Annotated[
    "list[str] | None", text_option("--lock", metavar="NAME=VALUE", text=_LOCK, panel=_ROBOT)
]
BaseFrame: TypeAlias = Annotated[
    "str | None", text_option("--from", "--base-frame", metavar="FRAME", text=_FROM, panel=_ROBOT)
]
Floating: TypeAlias = Annotated[
    bool, typer.Option("--floating", help=_FLOATING, rich_help_panel=_ROBOT)
]
Frame: TypeAlias = Annotated["str | None", text_option("--frame", metavar="NAME", text=_FRAME)]
Positions: TypeAlias = Annotated[
    "list[str] | None", text_option("--q", metavar="Q", text=_Q, panel=_POSITION)
]
PositionsFile: TypeAlias = Annotated[
    "str | None", text_option("--q-file", metavar="FILE", text=_Q_FILE, panel=_POSITION)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help=_JSON, rich_help_panel=_OUTPUT)]
Degrees: TypeAlias = Annotated[bool, typer.Option("--deg", help=_DEG)]
Threads: TypeAlias = Annotated[
    "int | None",
    typer.Option("--threads", min=1, max=1024, metavar="N", help=_THREADS, show_default=False),
]


@dataclass(frozen=True, kw_only=True)
class RobotArguments:
    """Which robot is meant, and what of it."""

    source: Source
    lock: Lock = None
    base_frame: BaseFrame = None
    floating: Floating = False


@dataclass(frozen=True, kw_only=True)
class InfoArguments(RobotArguments):
    """Show a robot: its tree, joints, masses, frames, and what is odd about its description."""

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork info ur5e",
        "linkwork info panda --json",
        "linkwork info two_arm_torso --from torso_link --frame left_tool0",
    )

    frame: Annotated[
        str | None,
        text_option("--frame", metavar="NAME", text="With --from: where the chain ends."),
    ] = None
    frames: Annotated[bool, typer.Option("--frames", help="List all frames.")] = False
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class FkArguments(RobotArguments):
    """Forward kinematics: the pose of a frame for given joint positions.

    Prints the pose as a 4x4 matrix, and as position (m), roll-pitch-yaw (rad) and quaternion.
    Without joint positions the neutral ones are taken: zero, moved inside the limits.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork fk ur5e --q "0 -1.57 1.57 0 0 0"',
        "linkwork fk panda --frame link4 --q joint2=0.5 --q joint4=-1.2",
        'linkwork fk ur5e --deg --q "0 -90 90 0 0 0"',
        "linkwork fk panda --all",
    )

    frame: Frame = None
    all_frames: Annotated[bool, typer.Option("--all", help="The poses of all frames.")] = False
    q: Positions = None
    q_file: PositionsFile = None
    deg: Degrees = False
    json: Json = False
    out: Annotated[
        str | None, _out(".npy with the matrices, .csv with x, y, z, qw, qx, qy, qz")
    ] = None


@dataclass(frozen=True, kw_only=True)
class JacobianArguments(RobotArguments):
    """The Jacobian of a frame: its velocity for each joint's velocity, linear rows first.

    The reference says which point's velocity is meant, and along which axes. world-aligned: the
    frame's origin, axes of the world. local: the frame's origin, axes of the frame. world:
    the point at the world's origin, axes of the world.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork jacobian ur5e --q "0 -1.57 1.57 0 0 0"',
        "linkwork jacobian panda --reference local",
    )

    frame: Frame = None
    reference: Annotated[
        str, value_option("--reference", "NAME", "world-aligned, local or world.")
    ] = "world-aligned"
    q: Positions = None
    q_file: PositionsFile = None
    deg: Degrees = False
    json: Json = False
    out: Annotated[
        str | None, _out(".npy with the matrices, .csv with one line for each row of them")
    ] = None


@dataclass(frozen=True, kw_only=True)
class IkArguments(RobotArguments):
    """Inverse kinematics: joint positions that bring frames where they shall be, or do other tasks.

    Every answer is verified by a fresh forward kinematics before it counts as solved. The exit code
    is 0 when all are solved, 1 when some are not, 2 when the input is wrong.

    A task is a kind, its names, its numbers, and ARGUMENT=VALUE, all in one pair of quotes. Kinds:
    pose, position, orientation, pointing, direction, line, plane, relative, com, posture,
    coupling, manipulability. With priority=1 it is done as well as the others leave room for.

    A file of poses is a .csv with the columns x, y, z and roll, pitch, yaw or qw, qx, qy, qz (with
    a header line, or in this order), or a .npy of shape (N, 6), (N, 7) or (N, 4, 4).
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork ik panda --xyz "0.4 0.1 0.5" --rpy "3.14 0 0"',
        'linkwork ik ur5e --xyz "0.3 0.2 0.4" --wxyz "0 1 0 0" --all',
        'linkwork ik panda --target "0.4 0.1 0.5" --task "direction tool0 0 0 -1"',
        'linkwork ik panda --task "pointing tool0 1 1 0" --task "posture priority=1"',
    )

    frame: Annotated[
        list[str] | None,
        text_option(
            "--frame",
            metavar="NAME",
            text="The frame; by default the only link at an end. Several take as many --target.",
        ),
    ] = None
    xyz: Annotated[
        str | None, text_option("--xyz", metavar='"X Y Z"', text="The position wanted, in metres.")
    ] = None
    rpy: Annotated[
        str | None,
        text_option(
            "--rpy",
            metavar='"R P Y"',
            text="The rotation wanted: roll, pitch, yaw in radians; in degrees with --deg.",
        ),
    ] = None
    wxyz: Annotated[
        str | None,
        text_option(
            "--wxyz",
            metavar='"W X Y Z"',
            text="The rotation wanted, as a quaternion. Default: unturned.",
        ),
    ] = None
    poses: Annotated[
        str | None, text_option("--poses", metavar="FILE", text="Poses from a .csv or .npy file.")
    ] = None
    target: Annotated[
        list[str] | None,
        text_option(
            "--target",
            metavar='"X Y Z ..."',
            text="The position alone, or with roll, pitch, yaw or a quaternion behind it.",
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        text_option(
            "--task",
            metavar='"KIND ..."',
            text="One more thing to be done. May be given several times.",
        ),
    ] = None
    q0: Annotated[
        list[str] | None,
        text_option(
            "--q0", metavar="Q", text="Where to begin, and where joints that are not moved stay."
        ),
    ] = None
    deg: Degrees = False
    joints: Annotated[
        str | None,
        text_option(
            "--joints",
            metavar="A,B,...",
            text="The joints to move; default: all that the tasks depend on.",
        ),
    ] = None
    limits_margin: Annotated[
        float | None,
        text_option(
            "--limits-margin",
            metavar="M",
            text="Keep so far from the limits of position, in radians or metres.",
        ),
    ] = None
    every: Annotated[
        bool, typer.Option("--all", help="All different solutions that are found, for one target.")
    ] = False
    best: Annotated[
        str | None,
        text_option(
            "--best",
            metavar="NAME",
            text="Of many solutions, that nearest (to --q0), most centred, or most manipulable.",
        ),
    ] = None
    best_of: Annotated[
        int, value_option("--best-of", "N", "How many starts --best searches from.")
    ] = 32
    position_tolerance: Annotated[
        float | None,
        text_option(
            "--position-tolerance",
            metavar="M",
            text="Largest error of positions, in metres; default: 1e-05.",
        ),
    ] = None
    rotation_tolerance: Annotated[
        float | None,
        text_option(
            "--rotation-tolerance",
            metavar="RAD",
            text="Largest error of rotations, in radians; default: 0.0001.",
        ),
    ] = None
    seed: Annotated[int, value_option("--seed", "N", "Picks the random restarts.")] = 0
    tries: Annotated[
        int | None,
        text_option(
            "--tries",
            metavar="N",
            text="Tries for a target, at most; default: 1000, with lower priorities 50.",
        ),
    ] = None
    steps: Annotated[
        int | None,
        text_option(
            "--steps",
            metavar="N",
            text="Steps of a try, at most; default: 16, with lower priorities 60.",
        ),
    ] = None
    threads: Threads = None
    show: Annotated[
        bool,
        typer.Option("--show", help="A table of each task's errors.", rich_help_panel=_OUTPUT),
    ] = False
    json: Json = False
    out: Annotated[
        str | None,
        _out(".npy with the joint positions, .csv with success and errors beside them"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelsArguments:
    """List the bundled models."""

    examples: ClassVar[tuple[str, ...]] = ("linkwork models",)

    json: Json = False


@dataclass(frozen=True, kw_only=True)
class DemoArguments:
    """Solve ten thousand inverse kinematics targets for a bundled arm, and verify every answer."""

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork demo",
        "linkwork demo --robot ur5e --targets 2000",
    )

    # One bound, so that a slip of the finger does not take all memory: a target needs some 1 kB.
    targets: Annotated[
        int, typer.Option("--targets", min=1, max=10_000_000, metavar="N", help="How many.")
    ] = 10_000
    robot: Annotated[str, value_option("--robot", "NAME", "A bundled model.")] = "panda"
    seed: Annotated[int, value_option("--seed", "N", "Picks the random targets.", least=0)] = 0
