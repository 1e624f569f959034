"""The form of the public collection example-parallel-robots: ``robot.yaml``.

``closed_loop`` has pairs of links or joints whose frames coincide, ``type`` says 6d (whole pose) or
3d (position) for each, ``name_mot`` are the actuated joints. ``joint_type`` says what each joint in
``joint_name`` is instead of what the URDF says: SPHERICAL, CARDAN (about x, then y), UJOINT_ZY
(about z, then y) and the like, FIXED.

Source: github.com/Gepetto/example-parallel-robots, as its files are.
"""

from __future__ import annotations

import re

from linkwork.formats.loops_records import Fields, JointRecord, LoopRecord, LoopsRecord
from linkwork.formats.yaml import Node

_KINDS = {"6d": "pose", "3d": "position"}
_AXES = {"SPHERICAL": "xyz", "CARDAN": "xy", "FIXED": ""}
_TWO = re.compile(r"UJOINT_([XYZ])([XYZ])\Z")


def read_collection(node: Node, file: str) -> LoopsRecord:
    """The loops, actuated joints and other joint types; what else stands there is left alone.

    Raises: DescriptionError.
    """
    fields, given = Fields(file), node.value
    if "closed_loop" not in given:
        key = next((k for k in ("name_closedloop", "closed_loop_number") if k in given), "type")
        why = f"'{key}' finds frames by parts of their names, which is not read"
        fields.fail(given[key], f"{why}; write closed_loop: [[frame_a, frame_b], ...]")
    pairs = fields.listed(given["closed_loop"], "closed_loop")
    types = fields.listed(given.get("type"), "type")
    if "type" in given and len(types) != len(pairs):
        fields.fail(given["type"], f"closed_loop has {len(pairs)} pairs, type {len(types)} entries")
    loops: list[LoopRecord] = []
    for k, pair in enumerate(pairs):
        frames = fields.texts(pair, "closed_loop")
        if len(frames) != 2:
            fields.fail(pair, f"closed_loop must be pairs of frames, not {list(frames)!r:.60}")
        kind = fields.text(types[k], "type").lower() if types else "6d"
        if kind not in _KINDS:
            fields.fail(types[k], f"type must be one of {', '.join(_KINDS)}, not {kind:.40}")
        loops.append(LoopRecord(*frames, _KINDS[kind], line=pair.line))
    motors = given.get("name_mot")
    return LoopsRecord(
        tuple(loops),
        (),
        fields.texts(motors, "name_mot"),
        file,
        _joints(given, fields),
        motors.line if motors else 0,
    )


def _joints(given: dict[str, Node], fields: Fields) -> tuple[JointRecord, ...]:
    names = fields.listed(given.get("joint_name"), "joint_name")
    types = fields.listed(given.get("joint_type"), "joint_type")
    if len(names) != len(types):
        why = f"joint_name has {len(names)} entries, joint_type {len(types)}"
        fields.fail(given.get("joint_type") or given.get("joint_name"), why)
    found: dict[str, JointRecord] = {}
    for name, kind in zip(names, types, strict=True):
        text, label = fields.text(name, "joint_name"), fields.text(kind, "joint_type").upper()
        if text in found:
            fields.fail(name, f"joint_name has '{text:.60}' twice")
        two = _TWO.match(label)
        if label not in _AXES and (two is None or two[1] == two[2]):
            known = ", ".join((*_AXES, "UJOINT_XY and the like"))
            fields.fail(kind, f"joint_type must be one of {known}, not {label:.40}")
        axes = (two[1] + two[2]).lower() if two else _AXES[label]
        found[text] = JointRecord(text, axes, name.line)
    return tuple(found.values())
