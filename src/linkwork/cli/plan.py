"""``linkwork plan``: a path around what is in the way, and the quickest motion along it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from click.exceptions import Exit
from numpy.typing import NDArray

import linkwork as lw
from linkwork import atomic, npz
from linkwork.cli import inputs, output
from linkwork.cli.arguments import PlanArguments
from linkwork.cli.ik import task_of
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.planning.planner import Plan
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

NO_PATH = 1
"""The exit code where the input was right, and no path was found."""

SAVED = (".csv", ".npz")


@output.options_named()
def run(given: PlanArguments) -> None:
    """Plan, print, write; exit with 1 where there is no path."""
    picture = output.picture_file(given.plot, "--plot")
    saved = output.target_file(given.save, SAVED, "--save")
    _refuse_motion(given)
    robot, angles = inputs.open_robot(given, None), Angles(given.deg)
    plan, scene = _plan(robot, given, angles)
    motion = _motion(robot, plan, given) if plan and not given.path_only else None
    if saved is not None and plan:
        _save(saved, robot, plan, motion)
    if picture is not None and motion is not None:
        drawn = BytesIO()
        figure = lw.plots.positions(robot, motion)[0].figure
        figure.savefig(drawn, format=picture.suffix[1:].lower(), dpi=150)
        atomic.write_bytes(picture, drawn.getvalue())
    if given.json:
        output.print_json(_record(robot, plan, motion))
    else:
        _print_plan(robot, plan, motion, angles)
    if given.show and motion is not None:
        from linkwork.cli import show  # noqa: PLC0415  few need it

        show.until_stopped(robot.animate(motion, scene=scene))
    if not plan:
        output.note(f"linkwork: no path: {plan.reason}")
        raise Exit(NO_PATH)


def _refuse_motion(given: PlanArguments) -> None:
    """Refuse, with --path-only, what is of the motion that it leaves out."""
    asked = {
        "--velocity": given.velocity,
        "--acceleration": given.acceleration,
        "--jerk": given.jerk,
        "--plot": given.plot,
        "--show": given.show or None,
    }
    told = [option for option, value in asked.items() if value is not None]
    if given.path_only and told:
        raise InputError(f"{told[0]} is of the motion, which --path-only leaves out")


def _plan(robot: lw.Robot, given: PlanArguments, angles: Angles) -> tuple[Plan, Any]:
    allow = tuple(given.allow or ())
    scene = None if given.scene is None else inputs.open_scene(given.scene, allow)
    start = inputs.configuration(robot, given.start, "--start", angles)
    wish: dict[str, Any] = {}
    if given.frame is not None or given.xyz is not None:
        if given.goal:
            raise InputError("give --goal, or --frame with --xyz, not both")
        if given.xyz is None:
            raise InputError("--frame needs --xyz, the place that it is to go to")
        wish["frame"] = given.frame or robot.tip
        goal: Any = inputs.pose_of(given.xyz, given.rpy, given.wxyz, angles)
    elif not given.goal:
        raise InputError("where to? give --goal, or --frame with --xyz")
    elif any("=" in entry for entry in given.goal):  # the others stay where they are
        named = inputs.named_values(given.goal, "--goal")
        goal = angles.typed_by_name(robot.mechanism, named)
    else:
        goal = inputs.configuration(robot, given.goal, "--goal", angles)
    if given.joints is not None:
        wish["joints"] = [name for name in given.joints.replace(",", " ").split() if name]
    keep: list[lw.ik.Task] = [task_of(text, start) for text in given.keep or []]
    if given.upright is not None:
        up = robot.fk(start, given.upright)[2, :3]
        keep.append(lw.ik.Direction(given.upright, [0.0, 0.0, 1.0], axis=tuple(up.tolist())))
    with progress_line("building the collision model"):
        model = robot.collision(allow=allow) if allow else robot.collision()
    with progress_line("planning"):
        plan = robot.plan(
            start,
            goal,
            scene=scene,
            model=model,
            seed=given.seed,
            seconds=given.seconds,
            clearance=given.clearance,
            keep=keep,
            **wish,
        )
    return plan, scene


def _motion(robot: lw.Robot, plan: Plan, given: PlanArguments) -> Any:
    """The motion along a path; None, which is told, where its joints have none."""
    try:
        return lw.trajectory.along(
            plan,
            robot=robot,
            velocity=_limit(given.velocity, "--velocity"),
            acceleration=_limit(given.acceleration, "--acceleration"),
            jerk=_limit(given.jerk, "--jerk"),
        )
    except UnsupportedFeatureError as error:
        if given.plot is not None or given.show:
            raise
        output.note(f"linkwork: the path alone: {error}")
        return None


def _limit(text: str | None, option: str) -> Any:
    """A limit: one number, or one for each joint."""
    if text is None:
        return None
    values = inputs.numbers(text, option)
    return values[0] if len(values) == 1 else values


def _save(path: Any, robot: lw.Robot, plan: Plan, motion: Any) -> None:
    if motion is not None:
        motion.save(path)
        return
    labels = inputs.position_labels(robot.mechanism)
    if path.suffix.lower() == ".npz":
        npz.write(path, {"q": plan.q, "joint_names": np.array(labels)})
        return
    rows = [",".join(labels), *(",".join(map(repr, row)) for row in plan.q.tolist())]
    atomic.write_bytes(path, ("\n".join(rows) + "\n").encode())


def _record(robot: lw.Robot, plan: Plan, motion: Any) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "success": plan.success,
        "reason": plan.reason,
        "proven": plan.proven,
        "joint_names": inputs.position_labels(robot.mechanism),
        "path": plan.q,
        "length": plan.length if plan else None,
        "seconds": plan.seconds,
        "steps": plan.steps,
        "duration": None if motion is None else motion.duration,
    }


def _print_plan(robot: lw.Robot, plan: Plan, motion: Any, angles: Angles) -> None:
    if not plan:
        return
    screen = Screen()
    told = "" if motion is None else f", {motion.duration:.3g} s"
    title = f"{robot.name}: a path of {len(plan.q)} points, length {plan.length:.4g}{told}"
    screen.print(output.heading(title))
    labels, kinds = inputs.position_labels(robot.mechanism), robot.mechanism.joint_types
    table = TextTable(("point", *labels), numbers=len(labels))
    for k, row in enumerate(angles.shown(plan.q, inputs.position_angles(kinds))):
        table.add_row(str(k), *[output.number(x, 4) for x in row])
    screen.print(table, f"looked at without gaps; found in {1e3 * plan.seconds:.3g} ms")
