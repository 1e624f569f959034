"""``linkwork simulate``: a robot's motion under gravity and controllers."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from click.exceptions import Exit

import linkwork as lw
from linkwork import atomic
from linkwork.cli import inputs, output
from linkwork.cli.arguments import SimulateArguments
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, ShapeError
from linkwork.simulating import simulate
from linkwork.simulation.inputs import places
from linkwork.simulation.joint_forces import PD
from linkwork.simulation.result import Simulation
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import TextTable

DIVERGED = 1
"""The exit code where the input was right and the simulation did not go to its end."""

SAVED = (".npz", ".csv")


@output.options_named()
def run(given: SimulateArguments) -> None:
    """Simulate, print, write; exit with 1 where the simulation did not go to its end."""
    picture = output.picture_file(given.plot, "--plot")
    saved = output.target_file(given.save, SAVED, "--save")
    robot = inputs.open_robot(given, None)
    result = _simulate(robot, given)
    if saved is not None:
        result.save(saved)
    if picture is not None:
        from matplotlib.figure import Figure  # noqa: PLC0415  an extra

        drawn = BytesIO()
        figure = Figure(figsize=(9.0, 9.0), layout="constrained")  # no window is opened for a file
        result.plot(figure=figure).savefig(drawn, format=picture.suffix[1:].lower(), dpi=150)
        atomic.write_bytes(picture, drawn.getvalue())
    if given.json:
        output.print_json(result.to_dict())
    else:
        _print_simulation(Screen(), robot, result, Angles(given.deg))
    if given.show:
        from linkwork.cli import show  # noqa: PLC0415  few need it

        show.until_stopped(result.animate())
    if not result:
        output.note(f"linkwork: not finished: {result.reason}")
        raise Exit(DIVERGED)
    if result.reason != "finished":
        output.note(f"linkwork: {result.reason}")


def _simulate(robot: lw.Robot, given: SimulateArguments) -> Simulation:
    angles = Angles(given.deg)
    q0, m = inputs.configuration(robot, given.q0, "--q0", angles), robot.mechanism
    if robot.actuated and (robot.loops or robot.couplings):
        # the loops closed, the actuated joints where they are asked for
        found = robot.assemble(q0[places(m, m.actuated, of_q=True)], q0=q0)
        if not found.success:
            raise InputError(f"--q0: {found.reason}")
        q0 = found.q
    v0 = _by_joint(robot, given.v0, "--v0", driven=False)
    if v0 is not None:
        v0 = angles.typed(v0, inputs.velocity_angles(m.joint_types))
    with progress_line("simulating") as told:
        return simulate(
            robot,
            q0,
            v0,
            given.duration,
            torque=_torque(robot, given),
            method=given.method,  # pyright: ignore[reportArgumentType]  checked there, by name
            dt=given.dt,
            tolerance=given.tolerance,
            gravity=None if given.gravity is None else inputs.numbers(given.gravity, "--gravity"),
            losses=given.losses,
            armature=_by_joint(robot, given.armature, "--armature", one=True),
            stops=given.stops,
            record=given.record,
            threads=given.threads,
            progress=told,
        )


def _torque(robot: lw.Robot, given: SimulateArguments) -> Any:
    if given.kp is None:
        if given.kd is not None or given.target is not None:
            raise InputError("--kd and --target belong to a controller: give --kp too")
        return _by_joint(robot, given.torque, "--torque")
    target = None
    if given.target:
        target = inputs.configuration(robot, given.target, "--target", Angles(given.deg))
    return PD(
        _by_joint(robot, given.kp, "--kp", one=True),
        0.0 if given.kd is None else _by_joint(robot, given.kd, "--kd", one=True),
        q_target=target,
        feed_forward=_by_joint(robot, given.torque, "--torque"),
    )


def _by_joint(
    robot: lw.Robot, text: str | None, option: str, *, one: bool = False, driven: bool = True
) -> Any:
    """Numbers for the joints; ``one`` may stand for all, ``driven``: the actuated ones suffice."""
    if text is None:
        return None
    values = inputs.numbers(text, option)
    if len(values) == robot.n_v:
        return values
    m = robot.mechanism
    few = places(m, m.actuated) if driven else []
    if one and len(values) == 1:
        return values[0]
    if few and len(values) == len(few):
        return values
    names = inputs.velocity_labels(m)
    kinds = [f"{robot.n_v} ({', '.join(names[:8])}{', ...' if len(names) > 8 else ''})"]
    if 0 < len(few) < robot.n_v:
        kinds.append(f"{len(few)} for the actuated joints ({', '.join(m.actuated)})")
    first = "one number, or " if one else ""
    count = f"{len(values)} {'was' if len(values) == 1 else 'were'}"
    raise ShapeError(f"{option} takes {first}{' or '.join(kinds)}; {count} given")


def _print_simulation(screen: Screen, robot: lw.Robot, result: Simulation, angles: Angles) -> None:
    end = float(result.ended_at)
    last = int(np.flatnonzero(np.isfinite(result.q).all(axis=1))[-1])
    n = result.times.size
    kept = f"{n}" if last + 1 == n else f"{last + 1} of {n}"
    screen.print(output.heading(f"{robot.name}: {end:g} s simulated, {kept} states"))
    joint = "joint (deg, m)" if angles.degrees else "joint"
    shown = TextTable((joint, "begins at", "ends at", "least", "most"), numbers=4)
    kinds = robot.mechanism.joint_types
    q = angles.shown(result.q[: last + 1], inputs.position_angles(kinds))
    v = angles.shown(result.v[: last + 1], inputs.velocity_angles(kinds))
    for k, name in enumerate(inputs.position_labels(robot.mechanism)):
        values = q[:, k]
        numbers = (values[0], values[-1], values.min(), values.max())
        shown.add_row(name, *[output.number(x, 4) for x in numbers])
    screen.print(shown, "")
    fastest = int(np.argmax(np.abs(result.v[: last + 1]).max(axis=0)))
    names = inputs.velocity_labels(robot.mechanism)
    screen.print(f"fastest          {np.abs(v[:, fastest]).max():.4g} ({names[fastest]})")
    screen.print(
        f"energy           {result.energy[0]:.6g} J at first, {result.energy[last]:.6g} J at last"
    )
