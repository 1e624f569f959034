"""Floating joints as MuJoCo has them: free in the world's body, elsewhere slides and a ball."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

_PARTS = ("TX", "TY", "TZ", "RB")


class Moved(NamedTuple):
    """A body that can stand in the world's body, its joint, and where it is at ``qpos0``."""

    body: str
    joint: str
    pos: Sequence[float] = ()
    quat: Sequence[float] = ()


def unfree(mujoco: Any, spec: Any) -> tuple[list[Moved], list[str]]:
    """Three slides and a ball for each floating joint that does not stand in the world's body.

    MuJoCo has free joints there only; the motions are the same. Returns those of which nothing
    carries the body that moves, to be moved there by `freed`, and the names of the others.
    """
    still: list[Moved] = []
    others: list[str] = []
    for joint in list(spec.joints):
        body = joint.parent
        if joint.type != mujoco.mjtJoint.mjJNT_FREE or body.parent.name == "world":
            continue
        name = joint.name
        if _stands_still(body.parent):
            still.append(Moved(body.name, name))
        else:
            others.append(name)
        spec.delete(joint)
        for end, direction in zip(_PARTS, np.eye(3), strict=False):
            slide = mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(name=f"{name}_{end}", type=slide, axis=direction)
        body.add_joint(name=f"{name}_{_PARTS[3]}", type=mujoco.mjtJoint.mjJNT_BALL)
    return still, others


def _stands_still(body: Any) -> bool:
    while body.name != "world":
        if body.joints:
            return False
        body = body.parent
    return True


def placed(mujoco: Any, model: Any, moved: Sequence[Moved]) -> list[Moved]:
    """The same with their places in the world."""
    if not moved:
        return []
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found: list[Moved] = []
    for each in moved:
        body = data.body(each.body)
        found.append(each._replace(pos=body.xpos.tolist(), quat=body.xquat.tolist()))
    return found


def freed(root: ElementTree.Element, moved: Sequence[Moved]) -> None:
    """Move these bodies into the world's body, where they have a free joint."""
    world = root.find("worldbody")
    if world is None:
        return
    for each in moved:
        above, body = _found(world, each.body)
        above.remove(body)
        parts = {f"{each.joint}_{end}" for end in _PARTS}
        for joint in [j for j in body.findall("joint") if j.get("name") in parts]:
            body.remove(joint)
        body.insert(0, ElementTree.Element("joint", {"name": each.joint, "type": "free"}))
        for name in ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"):
            body.attrib.pop(name, None)
        body.attrib.update(_attributes(each))
        world.append(body)


def _found(world: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The body that a body stands in, and the body itself."""
    pairs = ((above, body) for above in world.iter() for body in above.findall("body"))
    return next([above, body] for above, body in pairs if body.get("name") == name)


def _attributes(each: Moved) -> Mapping[str, str]:
    def text(numbers: Sequence[float]) -> str:
        return " ".join(f"{number:.9g}" for number in numbers)

    return {"pos": text(each.pos), "quat": text(each.quat)}
