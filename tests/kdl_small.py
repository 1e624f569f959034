"""A chain small enough to know its numbers by heart: two turns about z, arms of 1 m and 0.5 m."""

from __future__ import annotations

from linkwork.faces.pykdl import Chain, Frame, JntArray, Joint, RigidBodyInertia, Segment, Vector

GRAVITY = Vector(0, -10, 0)


def arm(*, fixed: bool = False) -> Chain:
    """Point masses of 2 kg and 1 kg at the ends of the arms."""
    made = Chain()
    for name, length, mass in (("upper", 1.0, 2.0), ("lower", 0.5, 1.0)):
        joint, tip = Joint(f"{name} joint", Joint.RotZ), Frame(Vector(length, 0, 0))
        made.addSegment(Segment(name, joint, tip, RigidBodyInertia(mass)))
    if fixed:
        made.addSegment(Segment("tool", Joint(), Frame(Vector(0, 0, 0.25))))
    return made


def array(*values: float) -> JntArray:
    return JntArray.FromArray(list(values))
