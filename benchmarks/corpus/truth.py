"""Where every link of a description is, by the standard library's XML and products of matrices.

It shares nothing with any library that is measured. It goes only over descriptions whose tree and
poses leave no doubt; of any other one it says what is doubtful, and a library may refuse it. What
leaves them alone is no fault: an <inertial> without mass, a second <axis>, the scale of a mesh.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.description import rotation

Floats = NDArray[np.float64]
SINGLE = ("revolute", "continuous", "prismatic")
TYPES = (*SINGLE, "fixed", "planar", "floating", "spherical")


@dataclass
class Truth:
    """The joints that are set, the poses of the links then, and what the file leaves open."""

    faults: list[str] = field(default_factory=list)
    positions: dict[str, float] = field(default_factory=dict)  # of joints that lead, by name
    followers: dict[str, float] = field(default_factory=dict)
    poses: dict[str, Floats] = field(default_factory=dict)
    meshes: list[str] = field(default_factory=list)


def truth_of(path: Path) -> Truth:
    """Read a file and walk over it; faults end the walk."""
    found = Truth()
    try:
        root = ET.fromstring(path.read_bytes().lstrip())  # white space before a declaration
    except (ET.ParseError, ValueError, LookupError) as error:
        found.faults.append(f"broken XML: {error}")
        return found
    if root.tag != "robot":
        found.faults.append(f"the root is <{root.tag}>")
        return found
    found.meshes = sorted({str(m.get("filename")) for m in root.iter("mesh") if m.get("filename")})
    if not root.get("name"):
        found.faults.append("no name")
    try:
        _walk(root, found)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        found.faults.append(f"{type(error).__name__}: {error}")
    return found


def _walk(root: ET.Element, found: Truth) -> None:
    joints = {str(j.get("name")): j for j in root.findall("joint")}
    base = _check(root, joints, found)
    if found.faults:
        return
    for name, joint in joints.items():
        if joint.get("type") in SINGLE and joint.find("mimic") is None:
            found.positions[name] = _position(name, joint)
    for name, joint in joints.items():
        if joint.get("type") in SINGLE and joint.find("mimic") is not None:
            found.followers[name] = _followed(name, joints, found.positions)
    found.poses[base] = np.eye(4)
    _place(joints, found)


def _check(root: ET.Element, joints: dict[str, ET.Element], found: Truth) -> str:
    """The root link; faults are noted."""
    links = [str(link.get("name")) for link in root.findall("link")]
    if not links:
        found.faults.append("no link")
    if len(set(links)) < len(links) or len(joints) < len(root.findall("joint")):
        found.faults.append("a name twice")
    above: set[str] = set()
    for name, joint in joints.items():
        child, parent = _end(joint, "child"), _end(joint, "parent")
        if child in above or child not in links or parent not in links:
            found.faults.append(f"joint '{name}': its links")
        if joint.get("type") not in TYPES:
            found.faults.append(f"joint '{name}': type {joint.get('type')!r}")
        for tag in ("origin", "limit", "mimic", "parent", "child"):
            if len(joint.findall(tag)) > 1:
                found.faults.append(f"joint '{name}': <{tag}> twice")
        above.add(child)
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        found.faults.append(f"{len(roots)} roots")
    return roots[0] if roots else ""


def _place(joints: dict[str, ET.Element], found: Truth) -> None:
    """Go through the joints again and again until all links are placed."""
    waiting = list(joints.items())
    while waiting:
        later: list[tuple[str, ET.Element]] = []
        for name, joint in waiting:
            parent = found.poses.get(_end(joint, "parent"))
            if parent is None:
                later.append((name, joint))
                continue
            q = found.positions.get(name, found.followers.get(name, 0.0))
            found.poses[_end(joint, "child")] = parent @ _placed(joint) @ _moved(joint, q)
        if len(later) == len(waiting):
            found.faults.append("a cycle")
            return
        waiting = later


def _position(name: str, joint: ET.Element) -> float:
    """A position inside the limits that only the joint's name decides."""
    wish = (zlib.crc32(name.encode()) % 1000) / 1000.0 - 0.5
    limit = joint.find("limit")
    if limit is None or joint.get("type") == "continuous":
        return wish
    lower, upper = (float(limit.get(k) or 0.0) for k in ("lower", "upper"))
    if limit.get("lower") is None or limit.get("upper") is None or lower > upper:
        return wish
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    return middle + min(half, 1.0) * wish


def _followed(name: str, joints: Mapping[str, ET.Element], positions: Mapping[str, float]) -> float:
    factor, shift, seen = 1.0, 0.0, set()
    while name not in positions:
        if name in seen:
            raise ValueError(f"mimic cycle at '{name}'")
        seen.add(name)
        mimic = joints[name].find("mimic")
        if mimic is None:
            raise ValueError(f"a fixed leader '{name}'")
        shift += factor * float(mimic.get("offset") or 0.0)
        factor *= float(mimic.get("multiplier") or 1.0)
        name = str(mimic.get("joint"))
        if name not in joints:
            raise ValueError(f"no leader '{name}'")
    return factor * positions[name] + shift


def _end(joint: ET.Element, tag: str) -> str:
    found = joint.find(tag)
    return "" if found is None else str(found.get("link"))


def _numbers(text: str | None, otherwise: tuple[float, ...]) -> Floats:
    values: list[Any] = list(otherwise) if text is None else [float(part) for part in text.split()]
    if len(values) != len(otherwise) or not all(map(math.isfinite, values)):
        raise ValueError(f"'{text}' is not {len(otherwise)} numbers")
    return np.array(values, np.float64)


def _placed(joint: ET.Element) -> Floats:
    T, origin = np.eye(4), joint.find("origin")
    if origin is not None:
        T[:3, :3] = rotation(_numbers(origin.get("rpy"), (0, 0, 0)))
        T[:3, 3] = _numbers(origin.get("xyz"), (0, 0, 0))
    return T


def _moved(joint: ET.Element, q: float) -> Floats:
    T, kind, given = np.eye(4), joint.get("type"), joint.find("axis")
    if kind not in SINGLE:
        return T
    axis = _numbers(None if given is None else given.get("xyz"), (1, 0, 0))
    length = float(np.linalg.norm(axis))
    if not length:
        raise ValueError("a zero axis")
    axis = axis / length
    if kind == "prismatic":
        T[:3, 3] = q * axis
        return T
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T[:3, :3] = np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K
    return T
