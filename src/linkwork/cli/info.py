"""``linkwork info``: what a robot consists of."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import linkwork as lw
from linkwork.cli import closed, inputs, output
from linkwork.cli.arguments import InfoArguments
from linkwork.cli.inputs import RADIANS, Angles
from linkwork.errors import InputError
from linkwork.legible import legible, short
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.robot_structure import Edge, drawn, edges_of, leaders_of, root_of
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable

LEVELS = ("error", "warning", "note")


def run(given: InfoArguments) -> None:
    """Print everything about a robot."""
    if given.frame is not None and given.base_frame is None:
        raise InputError("--frame says where the chain of --from ends: give both or neither")
    robot = inputs.open_robot(given, given.frame)
    if given.json:
        output.print_json(_as_json(robot, given))
    else:
        _print_robot(robot, given)


def _print_robot(robot: lw.Robot, given: InfoArguments) -> None:
    m, screen, angles = robot.mechanism, Screen(), Angles(given.deg)
    base, names = given.base_frame, robot.frame_names
    chain = "" if base is None else f": the chain from {base} to {robot.tip}"
    screen.print(output.heading(robot.name + chain))
    counts = (
        (robot.n_q, "numbers in q"),
        (m.n_bodies, "bodies"),
        (len(names), "frames"),
        (len(robot.findings), "findings"),
    )
    found = closed.mobility_of(robot)[0] if robot.mechanism.is_closed else None
    free = closed.degrees(robot.n_v if found is None else found.degrees_of_freedom)
    screen.print(", ".join((free, *(f"{n} {what}" for n, what in counts))) + "\n")

    edges = [_in_units(edge, m, angles) for edge in edges_of(robot)]
    floating = m.body_joint_types[0] is JointType.FLOATING
    screen.print(*drawn(root_of(robot, edges), edges, floating=floating))

    screen.print(output.heading(f"\njoints in the order of q ({angles.unit}, m, N, Nm, s)"))
    screen.print(_joints(m, angles))
    screen.print(output.heading(f"\nmasses, {short(robot.mass)} kg in total"))
    shown = TextTable(("link" if base is None else "body", "mass (kg)"), numbers=1)
    for name, mass in _mass_of_links(robot, chain=base is not None).items():
        shown.add_row(name, "-" if mass is None else short(mass))
    screen.print(shown, "")
    closed.show(screen, robot)

    links, joints = m.n_link_frames, m.n_link_frames + m.n_joint_frames
    parts = (("links", names[:links]), ("joints", names[links:joints]), ("added", names[joints:]))
    listed = ", ".join(f"{len(part)} {what}" for what, part in parts if part)
    screen.print(output.heading(f"{len(names)} frames: {listed}"))
    for line in map(legible, names) if given.frames else ("--frames lists them",):
        screen.print(f"  {line}")
    if not robot.findings:
        screen.print(output.heading("no findings"))
        return
    screen.print(output.heading(f"{len(robot.findings)} findings"))
    shown = TextTable(("level", "line", "finding"))
    for finding in sorted(robot.findings, key=lambda f: (LEVELS.index(f.level), f.line)):
        named = f"'{finding.name}': " if finding.name else ""
        hint = f" ({finding.hint})" if finding.hint else ""
        shown.add_row(finding.level, str(finding.line), f"{named}{finding.message}{hint}")
    screen.print(shown)


def _joint_records(m: Mechanism, angles: Angles = RADIANS) -> list[dict[str, Any]]:
    """One record for each joint of q, in its order."""
    records: list[dict[str, Any]] = []
    turning = inputs.position_angles(m.joint_types)
    lower, upper = (angles.shown(limits, turning) for limits in (m.lower, m.upper))
    velocity = angles.shown(m.velocity_limit, inputs.velocity_angles(m.joint_types))
    for c, (name, kind) in enumerate(zip(m.joint_names, m.joint_types, strict=True)):
        q = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        v = slice(int(m.v_start[c]), int(m.v_start[c + 1]))
        records.append(
            {
                "name": name,
                "type": kind.label,
                "q": [q.start, q.stop],
                "v": [v.start, v.stop],
                "lower": lower[q].tolist(),
                "upper": upper[q].tolist(),
                "angle": float(angles.shown(m.angle_limit[c])),
                "velocity": velocity[v].tolist(),
                "effort": m.effort_limit[v].tolist(),
            }
        )
    return records


def _coupled_records(m: Mechanism) -> list[dict[str, Any]]:
    return [
        {
            "name": m.body_joint_names[body],
            "type": m.body_joint_types[body].label,
            "follows": m.joint_names[int(m.coordinate[body])],
            "multiplier": float(m.multiplier[body]),
            "offset": float(m.offset[body]),
        }
        for body in m.followers()
    ]


def _mass_of_links(robot: lw.Robot, *, chain: bool) -> dict[str, float | None]:
    """The mass of each link; None where the description gives it none. For a chain, of bodies."""
    m = robot.mechanism
    if chain or robot.document is None:
        return {name: float(mass) for name, mass in zip(m.body_names, m.mass, strict=True)}
    links = robot.document.robot.links
    return {link.name: link.inertial.mass if link.inertial else None for link in links}


def _as_json(robot: lw.Robot, given: InfoArguments) -> dict[str, Any]:
    m, chain = robot.mechanism, given.base_frame is not None
    edges = edges_of(robot)
    beside = closed.records(robot)
    mobility = beside["mobility"]
    free = robot.n_v if mobility is None else mobility["degrees_of_freedom"]
    return {
        "robot": robot.name,
        "source": given.source,
        "base": given.base_frame,
        "degrees_of_freedom": free,
        "n_q": robot.n_q,
        "bodies": list(m.body_names),
        "root": root_of(robot, edges),
        "tree": [dataclasses.asdict(edge) for edge in edges],
        "q_names": inputs.position_labels(m),
        "joints": _joint_records(m),
        "coupled": _coupled_records(m),
        **beside,
        "mass": robot.mass,
        "masses": _mass_of_links(robot, chain=chain),
        "frames": list(robot.frame_names),
        "findings": [dataclasses.asdict(finding) for finding in robot.findings],
    }


def _in_units(edge: Edge, m: Mechanism, angles: Angles) -> Edge:
    """A joint of the tree with its limits, and what it follows, in the unit of angles."""
    if not angles.degrees:
        return edge
    follows = leaders_of(m, degrees=True).get(edge.joint)
    if edge.lower is None or edge.upper is None or edge.type == JointType.PRISMATIC.label:
        return dataclasses.replace(edge, follows=follows)
    lower, upper = (float(angles.shown(limit)) for limit in (edge.lower, edge.upper))
    return dataclasses.replace(edge, lower=lower, upper=upper, follows=follows)


def _joints(m: Mechanism, angles: Angles) -> TextTable:
    leaders = leaders_of(m, degrees=angles.degrees)
    columns = ("joint", "type", "q", "lower", "upper", "velocity", "effort")
    shown = TextTable((*columns, "coupled to") if leaders else columns)
    for record in _joint_records(m, angles):
        first, stop = record["q"]
        where = str(first) if stop - first == 1 else f"{first}-{stop - 1}"
        limits: list[str] = []
        for key in ("lower", "upper", "velocity", "effort"):  # one number where all are the same
            texts = [short(value) for value in record[key]]
            limits.append(texts[0] if len(set(texts)) == 1 else " ".join(texts))
        if math.isfinite(record["angle"]):
            limits[1] = f"angle {short(record['angle'])}"
        shown.add_row(record["name"], record["type"], where, *limits)
    for record in _coupled_records(m):
        name = record["name"]
        shown.add_row(name, record["type"], "", "", "", "", "", leaders[name])
    return shown
