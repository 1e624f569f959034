"""The arguments and options of every command: one class a command, whose docstring is its help.

This file loads neither NumPy nor a compiler, so that ``--help`` is quick.
"""

# ruff: noqa: RUF009  the functions called below give fields of dataclasses
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

_ROBOT, _OUTPUT, _POSITION, _FORCES = "Robot", "Output", "Joint positions", "Forces"
_PAGE = "Page"


@dataclass(frozen=True, kw_only=True)
class Info:
    """An argument or option as its user sees it; `linkwork.cli.app` makes a parameter of it.

    Its type, and whether it may be given several times, are those of the field that it stands for.
    """

    names: tuple[str, ...] = ()
    """The names of an option, "--on/--off" for a flag that has both; none: an argument."""
    metavar: str | None = None
    help: str
    panel: str = "Options"
    """The part of the help that it is listed in."""
    least: int | None = None
    most: int | None = None
    complete: Callable[[str], list[str]] | None = None
    """The values for a word that a shell completes; without any, files are offered."""


def option(
    names: str,
    metavar: str,
    text: str,
    *,
    default: Any = None,
    panel: str = "Options",
    least: int | None = None,
    most: int | None = None,
) -> Any:
    """An option with a value, of one name or several parted by commas; a default is shown."""
    info = Info(
        names=tuple(names.split(",")), metavar=metavar, help=text, panel=panel,
        least=least, most=most,
    )  # fmt: skip
    return field(default=default, metadata={"info": info})


def flag(name: str, text: str, *, default: bool | None = False, panel: str = "Options") -> Any:
    """An option without a value; a default of None says that it was not given."""
    return field(default=default, metadata={"info": Info(names=(name,), help=text, panel=panel)})


def argument(
    metavar: str, text: str, *, complete: Callable[[str], list[str]] | None = None, **more: Any
) -> Any:
    """An argument without a name; with a ``default`` it may be left out."""
    info = Info(metavar=metavar, help=text, panel="Arguments", complete=complete)
    return field(metadata={"info": info}, **more)


def complete_model(incomplete: str) -> list[str]:
    """Bundled models for a shell's completion; it offers files where none fits."""
    from linkwork.models import MODELS  # noqa: PLC0415  wanted while completing alone

    return [name for name in MODELS if name.startswith(incomplete)]


# options of several commands


def _json() -> Any:
    return flag("--json", "Print JSON, and nothing else.", panel=_OUTPUT)


def _out(kinds: str) -> Any:
    text = f"Write the result to this file as well: {kinds}."
    return option("--out", "FILE", text, panel=_OUTPUT)


def _threads() -> Any:
    text = "Threads, at most; by default one for each core."
    return option("--threads", "N", text, least=1, most=1024)


def _frame(text: str = "The frame; by default the only link at an end.") -> Any:
    return option("--frame", "NAME", text)


def _allow() -> Any:
    text = (
        "A folder that meshes may lie in besides the description's package. May be given several "
        "times."
    )
    return option("--allow", "FOLDER", text)


def _q() -> Any:
    text = (
        "Joint positions: all numbers in quotes, or name=value. May be given several times. "
        "Joints that are not named stay neutral."
    )
    return option("--q", "Q", text, panel=_POSITION)


def _q_file() -> Any:
    text = "Joint positions from a .csv or .npy file, one configuration a row."
    return option("--q-file", "FILE", text, panel=_POSITION)


def _xacro_arguments() -> Any:
    text = "A value for an argument of a xacro file. May be given several times."
    return option("--arg", "NAME:=VALUE", text)


@dataclass(frozen=True, kw_only=True)
class RobotArguments:
    """The robot, the part of it that is meant, and the unit of its angles."""

    source: str = argument(
        "FILE|NAME",
        "A URDF, xacro, MJCF or JSON file, a table (.csv, .yaml), or the name of a bundled model.",
        complete=complete_model,
    )
    lock: list[str] | None = option(
        "--lock",
        "NAME=VALUE",
        "Hold a joint at a position. May be given several times.",
        panel=_ROBOT,
    )
    base_frame: str | None = option(
        "--from,--base-frame",
        "FRAME",
        "Base the poses on this frame, and keep only the joints from there to the frame asked for.",
        panel=_ROBOT,
    )
    floating: bool = flag("--floating", "Let the root link move freely in space.", panel=_ROBOT)
    deg: bool = flag(
        "--deg",
        "Angles in degrees where they are typed and printed: joint positions, limits and "
        "velocities, roll, pitch and yaw. Files, --json and --task stay in radians.",
    )


@dataclass(frozen=True, kw_only=True)
class InfoArguments(RobotArguments):
    """Show a robot: its tree, joints, masses, frames, and what is odd about its description."""

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork info ur5e",
        "linkwork info panda --json",
        "linkwork info two_arm_torso --from torso_link --frame left_tool0",
    )

    frame: str | None = _frame("With --from: where the chain ends.")
    frames: bool = flag("--frames", "List all frames.")
    json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class ShowArguments(RobotArguments):
    """Show robots: in a page of the browser that moves them, or in a file.

    Without --out a page is served to this machine alone, until Ctrl-C: it has sliders for the
    joints and a handle for inverse kinematics, and keeps loops closed. Over SSH, and with
    --no-browser, only its address is printed. With --out the ending says what is written: .svg or
    .png (a drawing), .html (the page as one file that needs nothing else), .glb (for other
    programs), .gif or .mp4 (a film; without --trajectory of every joint from limit to limit).
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork show ur5e",
        'linkwork show panda --deg --q "0 -30 0 -120 0 90 45" --out panda.svg',
        "linkwork show five_bar --out five_bar.html",
        "linkwork show ur5e panda --no-browser --port 9000",
    )

    more: list[str] | None = argument(
        "[FILE|NAME]...",
        "More robots, to stand beside it.",
        default=None,
        complete=complete_model,
    )
    q: list[str] | None = _q()
    ghost: list[str] | None = option(
        "--ghost", "Q", "A second configuration, which is seen through.", panel=_POSITION
    )
    trajectory: str | None = option(
        "--trajectory",
        "FILE",
        "A motion to play: .npz or .csv, as simulate --save and trajectories write them, or joint "
        "positions, one configuration a row, as .csv or .npy.",
        panel=_POSITION,
    )
    duration: float | None = option(
        "--duration", "S", "How long the motion lasts, in seconds.", panel=_POSITION
    )
    scene: str | None = option(
        "--scene", "FILE", "What stands around the robot: a .yaml, or a MoveIt .scene."
    )
    collision: bool = flag("--collision", "Shapes for collisions in place of the visual ones.")
    rad: bool = flag("--rad", "The page shows angles in radians, in place of degrees.")
    allow: list[str] | None = _allow()
    port: int | None = option(
        "--port",
        "N",
        "The page's port; where it is taken, the next that is free. 0: any. Default: 8790.",
        least=0,
        most=65535,
        panel=_PAGE,
    )
    host: str = option(
        "--host",
        "ADDRESS",
        "The address that is served; 0.0.0.0: to all machines that reach this one.",
        default="127.0.0.1",
        panel=_PAGE,
    )
    browser: bool | None = flag(
        "--browser/--no-browser",
        "Whether a browser is opened; by default where there is a desktop.",
        default=None,
        panel=_PAGE,
    )
    render: bool = flag("--render", "A .png is shaded, in place of drawn.", panel=_OUTPUT)
    out: str | None = option(
        "--out", "FILE", "Write this file: .svg, .png, .html, .glb, .gif or .mp4.", panel=_OUTPUT
    )


@dataclass(frozen=True, kw_only=True)
class FrameArguments(RobotArguments):
    """A frame of a robot, at one configuration or those of a file."""

    frame: str | None = _frame()
    q: list[str] | None = _q()
    q_file: str | None = _q_file()


@dataclass(frozen=True, kw_only=True)
class FkArguments(FrameArguments):
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

    all_frames: bool = flag("--all", "The poses of all frames.")
    json: bool = _json()
    out: str | None = _out(".npy with the matrices, .csv with x, y, z, qw, qx, qy, qz")


@dataclass(frozen=True, kw_only=True)
class JacobianArguments(FrameArguments):
    """The Jacobian of a frame: its velocity for each joint's velocity, linear rows first.

    The reference says which point's velocity is meant, and along which axes. world-aligned: the
    frame's origin, axes of the world. local: the frame's origin, axes of the frame. world:
    the point at the world's origin, axes of the world.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork jacobian ur5e --q "0 -1.57 1.57 0 0 0"',
        "linkwork jacobian panda --reference local",
    )

    reference: str = option(
        "--reference", "NAME", "world-aligned, local or world.", default="world-aligned"
    )
    json: bool = _json()
    out: str | None = _out(".npy with the matrices, .csv with one line for each row of them")


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

    frame: list[str] | None = _frame(
        "The frame; by default the only link at an end. Several take as many --target."
    )
    xyz: str | None = option("--xyz", '"X Y Z"', "The position wanted, in metres.")
    rpy: str | None = option(
        "--rpy",
        '"R P Y"',
        "The rotation wanted: roll, pitch, yaw in radians; in degrees with --deg.",
    )
    wxyz: str | None = option(
        "--wxyz", '"W X Y Z"', "The rotation wanted, as a quaternion. Default: unturned."
    )
    poses: str | None = option("--poses", "FILE", "Poses from a .csv or .npy file.")
    target: list[str] | None = option(
        "--target",
        '"X Y Z ..."',
        "The position alone, or with roll, pitch, yaw or a quaternion behind it.",
    )
    task: list[str] | None = option(
        "--task", '"KIND ..."', "One more thing to be done. May be given several times."
    )
    q0: list[str] | None = option(
        "--q0", "Q", "Where to begin, and where joints that are not moved stay."
    )
    joints: str | None = option(
        "--joints", "A,B,...", "The joints to move; default: all that the tasks depend on."
    )
    limits_margin: float | None = option(
        "--limits-margin", "M", "Keep so far from the limits of position, in radians or metres."
    )
    every: bool = flag("--all", "All different solutions that are found, for one target.")
    best: str | None = option(
        "--best",
        "NAME",
        "Of many solutions, that nearest (to --q0), most centred, or most manipulable.",
    )
    best_of: int = option("--best-of", "N", "How many starts --best searches from.", default=32)
    position_tolerance: float | None = option(
        "--position-tolerance", "M", "Largest error of positions, in metres; default: 1e-05."
    )
    rotation_tolerance: float | None = option(
        "--rotation-tolerance", "RAD", "Largest error of rotations, in radians; default: 0.0001."
    )
    seed: int = option("--seed", "N", "Picks the random restarts.", default=0)
    tries: int | None = option(
        "--tries", "N", "Tries for a target, at most; default: 1000, with lower priorities 50."
    )
    steps: int | None = option(
        "--steps", "N", "Steps of a try, at most; default: 16, with lower priorities 60."
    )
    threads: int | None = _threads()
    errors: bool = flag("--errors", "A table of each task's errors.", panel=_OUTPUT)
    show: bool = flag("--show", "Show the answer in a page, as `show` does.", panel=_OUTPUT)
    json: bool = _json()
    out: str | None = _out(
        ".npy with the joint positions, .csv with success and errors beside them"
    )


@dataclass(frozen=True, kw_only=True)
class AssembleArguments(RobotArguments):
    """Assemble a mechanism with loops: all joint positions for given ones of its actuated joints.

    Every answer is closed within 1e-12 m and rad and inside the limits before it counts as
    assembled. The exit code is 0 when all are assembled, 1 when some are not, 2 when the input is
    wrong. What is left open, and by how much, is told on standard error.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork assemble four_bar crank=0.4",
        "linkwork assemble five_bar left=0.2 right=-0.1 --all",
        "linkwork assemble delta --json",
    )

    values: list[str] | None = argument(
        "[NAME=VALUE]...",
        "Positions of actuated joints. Those that are not named are where --near has them. Where "
        "the description does not say which joints are actuated, the named ones are.",
        default=None,
    )
    file: str | None = option(
        "--file",
        "FILE",
        "Positions of the actuated joints from a .csv or .npy file, one row each: columns by "
        "name, or in their order.",
    )
    near: list[str] | None = option(
        "--near",
        "Q",
        "Joint positions to go from, following their branch: numbers in quotes, or "
        "name=value. Without it the search starts at neutral, then at random.",
    )
    follow: bool = flag(
        "--follow/--no-follow",
        "Whether the branch of --near is followed, or any branch is searched for from there.",
        default=True,
    )
    every: bool = flag("--all", "All branches that are found, the nearest first.")
    seed: int | None = option("--seed", "N", "Picks the random starts.")
    tries: int | None = option("--tries", "N", "Tries for each row, at most.")
    steps: int | None = option("--steps", "N", "Steps of a try, or of a way, at most.")
    threads: int | None = _threads()
    json: bool = _json()
    out: str | None = _out(
        ".npy with the joint positions, .csv with success and errors beside them"
    )


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

    duration: float = option("--duration", "S", "How long, in seconds.", default=1.0)
    q0: list[str] | None = option("--q0", "Q", "Positions to begin with.")
    v0: str | None = option("--v0", '"V ..."', "Velocities to begin with; default: at rest.")
    method: str = option(
        "--method",
        "NAME",
        "rk4, euler (semi-implicit), dopri5 (adaptive) or implicit.",
        default="rk4",
    )
    dt: float = option(
        "--dt", "S", "The step; for dopri5 the time between kept states.", default=1.0e-3
    )
    tolerance: float = option(
        "--tolerance", "X", "For dopri5: the error of a step, at most.", default=1.0e-8
    )
    record: int = option("--record", "K", "Keep every K-th state; 0: first and last.", default=1)
    kp: str | None = option(
        "--kp",
        "K",
        "Stiffness of the controller: one number, or one for each degree of freedom, or each "
        "actuated joint.",
        panel=_FORCES,
    )
    kd: str | None = option("--kd", "K", "Damping of the controller.", panel=_FORCES)
    target: list[str] | None = option("--target", "Q", "Positions to hold.", panel=_FORCES)
    torque: str | None = option("--torque", '"F ..."', "Constant forces.", panel=_FORCES)
    gravity: str | None = option(
        "--gravity", '"X Y Z"', "Free-fall acceleration in the world, m/s².", panel=_FORCES
    )
    losses: bool = flag("--losses", "Damping and friction of the description count.", panel=_FORCES)
    armature: str | None = option(
        "--armature", "I", "Inertia of rotors, times the gear ratio squared.", panel=_FORCES
    )
    stops: bool = flag("--stops", "Joint limits hold, softly.", panel=_FORCES)
    plot: str | None = option(
        "--plot",
        "FILE",
        "Draw positions, velocities, forces and energies: .png, .svg or .pdf.",
        panel=_OUTPUT,
    )
    save: str | None = option("--save", "FILE", "Write all states: .npz, or .csv.", panel=_OUTPUT)
    show: bool = flag("--show", "Play the motion in a page, as `show` does.", panel=_OUTPUT)
    threads: int | None = _threads()
    json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class CollideArguments(RobotArguments):
    """Contacts of the robot's links with each other and with a scene.

    Prints the pairs that touch and how deep, or the nearest pair and how far apart it is. Without
    joint positions the neutral ones are taken. The exit code is 0 when nothing touches, 1 when
    something does, 2 when the input is wrong.

    Pairs of links that cannot meet, or always do, are left out, each with its reason; an SRDF
    beside the description is read.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork collide ur5e --q "0 -1.57 1.57 0 0 0"',
        "linkwork collide panda --pairs --save-srdf panda.srdf",
        "linkwork collide panda --q joint4=-1.5 --clearance --json",
    )

    q: list[str] | None = _q()
    q_file: str | None = _q_file()
    scene: str | None = option(
        "--scene", "FILE", "What stands around the robot: a .yaml, or a MoveIt .scene."
    )
    srdf: str | None = option(
        "--srdf", "FILE", "The SRDF that says which pairs of links are not checked."
    )
    allow: list[str] | None = _allow()
    clearance: bool = flag(
        "--clearance",
        "Distances: of one configuration those of all pairs, of many that of the nearest.",
        panel=_OUTPUT,
    )
    pairs: bool = flag("--pairs", "All pairs of links: checked or not, and why.", panel=_OUTPUT)
    save_srdf: str | None = option(
        "--save-srdf", "FILE", "Write the pairs that are left out to this SRDF.", panel=_OUTPUT
    )
    json: bool = _json()
    out: str | None = _out(".npy with the least distances, .csv with the nearest pair beside them")


@dataclass(frozen=True, kw_only=True)
class PlanArguments(RobotArguments):
    """A path around what is in the way, and the quickest motion along it.

    The path touches neither the robot nor the scene, which is looked at without gaps before it is
    printed. The motion keeps the description's limits of velocity and torque, and those given here.
    The exit code is 0 when there is a path, 1 when none was found, 2 when the input is wrong.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork plan panda --start joint4=-1.8 --goal joint1=1.2",
        'linkwork plan ur5e --xyz "0.3 0.2 0.4" --acceleration 5 --save move.csv',
        "linkwork plan panda --goal joint4=-2.4 --path-only --json",
        "linkwork plan panda --start joint4=-1.8 --goal joint1=1.2 --upright tool0",
    )

    start: list[str] | None = option("--start", "Q", "Where the path begins; default: neutral.")
    goal: list[str] | None = option(
        "--goal", "Q", "Where it ends. Joints that are not named stay as at the start."
    )
    frame: str | None = option("--frame", "NAME", "The frame that --xyz is about.")
    xyz: str | None = option("--xyz", '"X Y Z"', "Where a frame is to go, in metres.")
    rpy: str | None = option("--rpy", '"R P Y"', "Its rotation there: roll, pitch, yaw.")
    wxyz: str | None = option("--wxyz", '"W X Y Z"', "Its rotation there, as a quaternion.")
    scene: str | None = option(
        "--scene", "FILE", "What stands around the robot: a .yaml, or a MoveIt .scene."
    )
    joints: str | None = option(
        "--joints", '"A B"', "The joints that move; default: all but floating ones."
    )
    upright: str | None = option(
        "--upright", "FRAME", "A frame that leans nowhere on the way: what is up in it stays up."
    )
    keep: list[str] | None = option(
        "--keep", "TASK", "What is kept along the way, as `ik --task` takes it; may be repeated."
    )
    clearance: float = option(
        "--clearance", "M", "How far from the scene the whole path must stay.", default=0.0
    )
    seed: int = option("--seed", "N", "Another number gives another path.", default=0)
    seconds: float = option("--seconds", "S", "How long to search.", default=10.0)
    velocity: str | None = option("--velocity", "V", "The greatest velocity, rad/s or m/s.")
    acceleration: str | None = option(
        "--acceleration", "A", "The greatest acceleration, rad/s² or m/s²."
    )
    jerk: str | None = option("--jerk", "J", "The greatest jerk, rad/s³ or m/s³.")
    path_only: bool = flag("--path-only", "The path without a motion along it.")
    allow: list[str] | None = _allow()
    save: str | None = option(
        "--save", "FILE", "Write the motion, or the path: .csv or .npz.", panel=_OUTPUT
    )
    plot: str | None = option(
        "--plot", "FILE", "Draw the joints' motion: .png, .svg or .pdf.", panel=_OUTPUT
    )
    show: bool = flag("--show", "Play the motion in a page, as `show` does.", panel=_OUTPUT)
    json: bool = _json()


# descriptions


@dataclass(frozen=True, kw_only=True)
class CheckArguments:
    """List everything that is wrong or odd with descriptions, with lines, as compilers do.

    Errors are what no robot follows from; warnings and notes are findings, with which the
    description can be used. The exit code is 0 when there is no error (with --strict: no error
    and no warning), 1 otherwise, 2 when the command line is wrong.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork check robot.urdf",
        "linkwork check *.urdf --strict --ignore material-unused",
        "linkwork check robot.urdf.xacro --allow ../meshes --json",
    )

    files: list[str] = argument("FILE...", "URDF, xacro or MJCF files.")
    strict: bool = flag("--strict", "Warnings fail as well.")
    level: str = option(
        "--level",
        "LEVEL",
        "What is printed: error, warning (and errors), or note (everything).",
        default="note",
    )
    meshes: bool = flag("--meshes/--no-meshes", "Open meshes and textures.", default=True)
    contacts: bool = flag(
        "--contacts", "Build the collision model, and tell links that touch where they should not."
    )
    allow: list[str] | None = _allow()
    ignore: list[str] | None = option(
        "--ignore",
        "CODE",
        "A code to leave out, such as material-unused. May be given several times.",
    )
    arg: list[str] | None = _xacro_arguments()
    json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class DiffArguments:
    """Show how two descriptions differ, element by element, whatever their text looks like.

    The exit code is 0 when they say the same, 1 when they differ, 2 when one cannot be read.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork diff old.urdf new.urdf",
        "linkwork diff old.urdf new.urdf --tolerance 1e-9",
    )

    before: str = argument("A", "The one file.")
    after: str = argument("B", "The other file.")
    tolerance: float = option(
        "--tolerance", "X", "Numbers that differ by no more count as the same.", default=0.0
    )
    json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class ConvertArguments:
    """Write a description in another format, or a picture of its tree.

    The name of the target says the format: .urdf, .xml or .mjcf (MJCF, by MuJoCo), .yaml
    (loops alone), .json (the mechanism), .svg, .mmd or .md (Mermaid), .dot, .csv (a table of
    Denavit-Hartenberg parameters). What is odd, and what
    is lost, is told on standard error. The exit code is 0 when the target is written, 2 otherwise;
    a file is written whole or not at all.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork convert robot.urdf.xacro robot.urdf --arg prefix:=left_",
        "linkwork convert panda panda.svg",
        "linkwork convert ur5e - --to mermaid",
    )

    source: str = argument(
        "SOURCE", "A URDF or xacro file, a table (.csv, .yaml), or the name of a bundled model."
    )
    target: str = argument("TARGET", "The file to write; - is standard output.")
    to: str | None = option(
        "--to", "FORMAT", "What to write: urdf, mjcf, loops, json, svg, mermaid, dot or dh."
    )
    force: bool = flag("--force", "Replace a file that exists.")
    strict: bool = flag("--strict", "Write nothing where there are warnings.")
    meshes: str | None = option(
        "--meshes",
        "HOW",
        "readable (URDF's default): files that the new place cannot reach are copied beside "
        "it. reference: names are rewritten. copy: all files go to meshes/. keep: names stay.",
    )
    allow: list[str] | None = _allow()
    arg: list[str] | None = _xacro_arguments()
    env: list[str] | None = option(
        "--env",
        "NAME=VALUE",
        "A value for $(env NAME) in a xacro file; the environment itself is not read. May be "
        "given several times.",
    )


# models and programs


@dataclass(frozen=True, kw_only=True)
class ModelsArguments:
    """List the bundled models."""

    examples: ClassVar[tuple[str, ...]] = ("linkwork models",)

    json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class DemoArguments:
    """Solve ten thousand inverse kinematics targets for a bundled arm, and verify every answer."""

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork demo",
        "linkwork demo --robot ur5e --targets 2000",
    )

    # One bound, so that a slip of the finger does not take all memory: a target needs some 1 kB.
    targets: int = option("--targets", "N", "How many.", default=10_000, least=1, most=10_000_000)
    robot: str = option("--robot", "NAME", "A bundled model.", default="panda")
    seed: int = option("--seed", "N", "Picks the random targets.", default=0, least=0)


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """Run a Python program with Linkwork in the place of an older library.

    Where the program imports the library, it gets Linkwork's face of it. All
    else is as python does it: arguments, exit code, errors. What follows the
    program's name is its own.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork run --as urdfpy -c "import urdfpy; print(urdfpy.URDF)"',
        "linkwork run --as urdfpy -m pydoc urdfpy.URDF.link_fk",
    )

    faces: list[str] | None = option(
        "--as",
        "LIBRARY",
        "Put Linkwork in the place of this library. May be given several times; by default "
        "of all that it has a face for.",
    )
    allow: list[str] | None = option(
        "--allow",
        "DIR",
        "Let descriptions have meshes and images in this folder too, wherever it is. May be "
        "given several times; LINKWORK_ALLOW has the same meaning.",
    )
    load_meshes: bool = flag(
        "--load-meshes",
        "Read meshes when a description is loaded, so that a missing one is an error then. "
        "LINKWORK_LOAD_MESHES=1 has the same meaning.",
    )
    module: str | None = option("-m", "MODULE", "Run a module, as python -m does.")
    code: str | None = option("-c", "CODE", "Run this text, as python -c does.")
    words: list[str] | None = argument(
        "SCRIPT [ARGUMENTS]", "A script, and the arguments that it gets.", default=None
    )
