"""The robot of `linkwork` behind a chain, and its compiled functions.

Each segment becomes a link whose frame is that of the segment; the frame that its joint moves is
another link, fixed to it. Names of KDL need not be unique, so links, joints and frames have
numbers: frame 0 is the base, frame k stands behind k segments. A joint with a scale follows a
coordinate of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.faces.pykdl.chain import Content
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia
from linkwork.faces.pykdl.joint import Joint
from linkwork.faces.pykdl.scalars import Floats
from linkwork.faces.pykdl.segment import Segment
from linkwork.faces.pykdl.solver import otherwise
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.model import JointType
from linkwork.mechanism.parts import JointPart, LinkPart, Mimic, Parts
from linkwork.robot import Robot

Function = Callable[..., Floats]
Call = Callable[..., Any]
Bounds = tuple[tuple[float | None, float | None], ...]

MOST_CORES = 64
"""So many are kept for chains to come; a chain that is there keeps its own."""


@lru_cache(maxsize=MOST_CORES)
def core_of(content: Content, bounds: Bounds | None = None) -> Core:
    """What computes of segments with these limits: for the same numbers, mostly the same one.

    Programs make chains and solvers anew at each call; what is found here costs them nothing.
    """
    return Core(content.segments, bounds)


class Core:
    """What is computed of a chain. It never changes: a chain that grows gets another.

    ``bounds`` are the lower and the upper limit of each joint that moves.
    """

    def __init__(self, segments: Sequence[Segment], bounds: Bounds | None = None) -> None:
        self.robot = Robot(assemble(_parts(segments, bounds)), tip=str(len(segments)))
        self.rotors = np.array([s.getJoint().inertia for s in segments if _moves(s)])
        self.has_rotors = bool(self.rotors.any())
        names = self.robot.frame_names
        self.order = [names.index(str(k)) for k in range(len(segments) + 1)]
        """Where in `fk_all` the frame behind so many segments is."""
        first = next((k for k, s in enumerate(segments) if _moves(s)), len(segments))
        self.standing = first
        """How many segments no joint moves: nothing of the chain feels forces on them."""
        self.wrenches = tuple(f"wrench:{k + 1}" for k in range(first, len(segments)))
        """The names of the wrenches on the others, as parameters."""
        self._functions: dict[Any, Function] = {}
        self.poses: dict[int, Call] = {}
        self.motions: dict[int, Call] = {}
        """Calls for numbers of segments as they were asked for: -1 is the tip."""
        self.forces: Call = otherwise

    def behind(self, count: int, algorithm: str, **static: Any) -> Function:
        """An algorithm of the frame behind so many segments."""
        key = (algorithm, count, *static.values())
        found = self._functions.get(key)
        if found is None:
            found = self.robot.function(algorithm, str(count), **static)
            self._functions[key] = found
        return found

    def call(self, name: str, *which: Any) -> Call:
        """One of `chain_calls`, made at its first use."""
        key = (name, *which)
        found = self._functions.get(key)
        if found is None:
            from linkwork.faces.pykdl import chain_calls  # noqa: PLC0415  loads what compiles

            found = self._functions[key] = getattr(chain_calls, name)(self, *which)
        return found

    def whole(self, algorithm: str, parameters: tuple[str, ...] = ()) -> Function:
        """An algorithm of the whole chain, with these inputs besides."""
        key = (algorithm, parameters)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = self.robot.function(algorithm, parameters=parameters)
        return found


def _moves(segment: Segment) -> bool:
    return segment.getJoint().getType() is not Joint.Fixed


def _parts(segments: Sequence[Segment], bounds: Bounds | None) -> Parts:
    links, joints = [LinkPart("0")], list[JointPart]()
    count = 0
    for k, segment in enumerate(segments):
        before, own, moved = str(k), str(k + 1), f"moved {k + 1}"
        links.append(_link(own, segment.getInertia()))
        if not _moves(segment):
            joints.append(_fixed(f"joint {k + 1}", before, own, segment.getFrameToTip()))
            continue
        limits = (None, None) if bounds is None else bounds[count]
        links.append(LinkPart(moved))
        joints += _moving(f"joint {k + 1}", (before, moved), segment.getJoint(), limits)
        tip = segment.getFrameToTip()  # its joint adds no offset at position 0
        tip.p -= segment.getJoint().JointOrigin()
        joints.append(_fixed(f"tip {k + 1}", moved, own, tip))
        count += 1
    return Parts("chain", links, joints, inertias_accepted=True)


def _link(name: str, inertia: RigidBodyInertia) -> LinkPart:
    """A link with the inertia about its centre of gravity, where KDL has it about the origin."""
    centre = inertia.getCOG()
    about = inertia.RefPoint(centre).getRotationalInertia()
    return LinkPart(name, inertia.getMass(), centre.ToArray(), about.ToArray())


def _fixed(name: str, parent: str, child: str, place: Frame) -> JointPart:
    return JointPart(
        name=name,
        type=JointType.FIXED,
        parent=parent,
        child=child,
        R=place.M.ToArray(),
        p=place.p.ToArray(),
    )


def _moving(
    name: str,
    ends: tuple[str, str],
    joint: Joint,
    limits: tuple[float | None, float | None],
) -> list[JointPart]:
    """A joint that moves; before it the coordinate that it follows, where it has a scale."""
    kind = JointType.REVOLUTE if joint.turns else JointType.PRISMATIC
    lower, upper = limits
    whole = joint.scale == 1.0
    first = JointPart(
        name=name,
        type=kind,
        parent=ends[0] if whole else None,
        child=ends[1] if whole else None,
        p=joint.JointOrigin().ToArray(),
        axis=joint.JointAxis().ToArray(),
        lower=lower,
        upper=upper,
    )
    if whole:
        return [first]
    follower = JointPart(
        name=f"{name} scaled",
        type=kind,
        parent=ends[0],
        child=ends[1],
        p=first.p,
        axis=first.axis,
        mimic=Mimic(name, joint.scale, 0.0),
    )
    return [first, follower]
