"""Rows S2-100 to S2-159: joints, what they have beside an axis, and transmissions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from linkwork.errors import InputError, ShapeError
from linkwork.faces.urdfpy import adapt
from linkwork.faces.urdfpy.base import URDFType
from linkwork.faces.urdfpy.link import scaled_pose
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError
from linkwork.faces.urdfpy.values import (
    Array,
    Number,
    Origin,
    Part,
    Parts,
    Source,
    Text,
    Value,
    Writer,
    direction,
    vector,
)
from linkwork.formats.urdf import records


class JointCalibration(URDFType):
    """The reference positions of a joint, None where there are none."""

    _RECORD = records.Calibration

    rising: Any = Number("Where the mark is met when the joint moves up; or None.", optional=True)
    falling: Any = Number(
        "Where the mark is met when the joint moves down; or None.", optional=True
    )


class JointDynamics(URDFType):
    """Damping and static friction of a joint; None where not known."""

    _RECORD = records.Dynamics
    _needed = 2

    damping: Any = Number("Damping, N s/m or N m s/rad; or None.", optional=True, unsaid=0.0)
    friction: Any = Number("Static friction, N or N m; or None.", optional=True, unsaid=0.0)


class JointLimit(URDFType):
    """Bounds of a joint; None (and an infinite number) is no bound."""

    _RECORD = records.Limit

    effort: Any = Number("The largest effort, N or N m.", bound=True)
    velocity: Any = Number("The largest velocity, m/s or rad/s.", bound=True)
    lower: Any = Number("The lowest position, m or rad; or None.", optional=True, bound=True)
    upper: Any = Number("The highest position, m or rad; or None.", optional=True, bound=True)


class JointMimic(URDFType):
    """A coupling: the joint's position is multiplier * (position of the other) + offset."""

    _RECORD = records.Mimic
    _names = ("joint",)
    kinematic = True

    joint: Any = Text("The name of the joint that is followed.")
    multiplier: Any = Number("The factor, 1 by default.", optional=True, default=1.0)
    offset: Any = Number("What is added, 0 by default, m or rad.", optional=True, default=0.0)


class SafetyController(URDFType):
    """Soft limits of a joint, and the gains that keep it within them."""

    _RECORD = records.Safety

    k_velocity: Any = Number("Effort for velocity.")
    k_position: Any = Number("Velocity for position, 0 by default.", optional=True, default=0.0)
    soft_lower_limit: Any = Number(
        "Where the controller sets in below, 0 by default.", optional=True, default=0.0
    )
    soft_upper_limit: Any = Number(
        "Where the controller sets in above, 0 by default.", optional=True, default=0.0
    )


_TYPES = ["fixed", "prismatic", "revolute", "continuous", "floating", "planar"]
_LIMITED = ("prismatic", "revolute")
_WITHOUT_AXIS = ("fixed", "floating")


class _Kind(Value):
    def check(self, owner: Any, value: Any) -> str:
        """Raises: InputError for a type that joints do not have.

        A limit that the new type needs may be set later, before the joint is used.
        """
        kind = str(value)
        if kind not in _TYPES:
            raise InputError(
                f"{self.what(owner)} of '{getattr(owner, 'name', '')}' is one of "
                f"{', '.join(_TYPES)}, not '{kind:.40}'"
            )
        return kind


class _Limit(Part):
    def check(self, owner: Any, value: Any) -> Any:
        """Raises: WrongTypeError; InputError for None where the joint needs one."""
        if value is None and owner.joint_type in _LIMITED:
            raise InputError(f"joint '{owner.name}': a {owner.joint_type} joint needs a limit")
        return super().check(owner, value)

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        super().judge(cls, record, source, of)
        if record.limit is None and record.type in _LIMITED:
            text = f"a {record.type} joint needs a <limit>"
            source.wrong("joint", record, text, "missing-limits")


def lacks_limit(joint: Joint) -> str:
    """The sentence on a joint that needs a limit and has none; empty of any other."""
    if joint.limit is not None or joint.joint_type not in _LIMITED:
        return ""
    return f"a {joint.joint_type} joint needs a limit; set its `limit`"


class _Axis(Array):
    """A direction of length 1; x for None, and for a zero one where the joint needs none."""

    def check(self, owner: Any, value: Any) -> Floats:
        axis = None if value is None else direction(self.what(owner), value)
        if value is not None and axis is None and owner.joint_type not in _WITHOUT_AXIS:
            what = f"joint '{owner.name}': its axis is zero, so nothing says how it moves"
            raise InputError(what)
        return np.array([1.0, 0.0, 0.0]) if axis is None else axis

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        return record.axis if any(record.axis) else None

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The axis; as it was read, where it is still the direction of that."""
        made = super().written(owner, writer)
        if owner.record is not None:
            written: records.Vector3 = owner.record.axis
            said = direction("axis", written)
            as_read = (1.0, 0.0, 0.0) if said is None else tuple(said.tolist())
            unused = owner.joint_type in _WITHOUT_AXIS
            if made["axis"] == as_read and (any(written) or unused):
                return {"axis": written}
        return made


class Joint(URDFType):
    """A connection between two links, which are meant by their names.

    ``origin`` (4, 4) or xyz and rpy (6,) is the pose of the child in the parent at position zero,
    ``axis`` (3,) a direction in that frame, by default x.

    Raises: InputError, WrongTypeError; a prismatic or revolute joint needs a limit.
    """

    TYPES: ClassVar[list[str]] = list(_TYPES)

    _RECORD = records.Joint
    _names = ("name", "parent", "child")
    _is_place = True
    kinematic = True

    name: Any = Text("The name of the joint.")
    joint_type: Any = _Kind("The type, one of `Joint.TYPES`.", required=True, field="type")
    parent: Any = Text("The name of the parent link.")
    child: Any = Text("The name of the child link.")
    axis: Any = _Axis(
        "The axis (3,), a unit vector in the joint's frame.", vector, watched=True, required=False
    )
    origin: Any = Origin("The pose (4, 4) of child and joint in the parent link.", watched=True)
    limit: Any = _Limit("The limits; or None.", JointLimit)
    dynamics: Any = Part("Damping and friction; or None.", JointDynamics)
    safety_controller: Any = Part(
        "The safety controller; or None.", SafetyController, field="safety"
    )
    calibration: Any = Part("The calibration; or None.", JointCalibration)
    mimic: Any = Part("The joint that is followed; or None.", JointMimic)

    def get_child_pose(self, cfg: Any = None) -> Floats:
        """The pose (4, 4) of the child in the parent at a position; None is the origin.

        Fixed: not used. Prismatic: m along the axis. Revolute, continuous: rad about the axis.
        Planar: (2,) m along the two directions across the axis that x and y turn into when z is
        turned onto the axis by the smallest rotation. Floating: xyz and rpy (6,), or (4, 4).

        Raises: InputError, WrongTypeError for a position that the joint cannot have.
        """
        return self.get_child_poses(None if cfg is None else [cfg], 1)[0]

    def get_child_poses(self, cfg: Any, n_cfgs: int) -> Floats:
        """The poses (n_cfgs, 4, 4) of the child in the parent at n positions; None is the origin.

        ``cfg`` has a row for each, or one for all; a row as `get_child_pose` takes it.

        Raises: as `get_child_pose`; ShapeError for another number of rows.
        """
        origin: Floats = self.__dict__["_origin"]
        if cfg is None or self.joint_type == "fixed":
            return np.tile(origin, (n_cfgs, 1, 1))
        rows = adapt.motions(self, cfg)
        if len(rows) not in (1, n_cfgs):
            raise ShapeError(f"joint '{self.name}': {n_cfgs} positions are needed, not {len(rows)}")
        return origin @ np.broadcast_to(rows, (n_cfgs, 4, 4))

    def _to_record(self, writer: Writer) -> Any:
        if lacks_limit(self):
            raise InputError(f"joint '{self.name}': {lacks_limit(self)}")
        return super()._to_record(writer)

    def _scale_lengths(self, factors: Floats) -> None:
        self.origin = scaled_pose(self.origin, factors)
        if self.joint_type == "prismatic" and self.limit is not None:
            factor = float(np.linalg.norm(factors * self.axis))
            for side in ("lower", "upper", "velocity"):
                value = getattr(self.limit, side)
                setattr(self.limit, side, None if value is None else value * factor)

    def is_valid(self, cfg: Any) -> bool:
        """Whether a position is one that the joint may have: of its kind, finite, within limits.

        Raises: InputError where the joint has become one that needs a limit, and has none.
        """
        if lacks_limit(self):
            raise InputError(f"joint '{self.name}': {lacks_limit(self)}")
        return adapt.is_valid(self, cfg)

    def __repr__(self) -> str:
        return f"<Joint '{self.name}' {self.joint_type}: '{self.parent}' to '{self.child}'>"


# transmissions


class Interfaces(Value):
    """A list of texts; None is an empty one."""

    def check(self, owner: Any, value: Any) -> list[str]:
        """Raises: WrongTypeError for what is no list."""
        if value is None:
            return []
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            kind = type(value).__name__
            raise WrongTypeError(f"{self.what(owner)} is a list of texts, not {kind}")
        return [str(text) for text in value]

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The texts as a tuple."""
        return {self.field: tuple(owner.__dict__[self.slot])}


class Actuator(URDFType):
    """An actuator of a transmission."""

    _RECORD = records.Actuator

    name: Any = Text("The name of the actuator, not empty.", filled=True)
    mechanicalReduction: Any = Text(
        "The reduction, as the text in the file; or None.",
        optional=True,
        field="mechanical_reduction",
    )  # the XML's spelling, which the original took over
    hardwareInterfaces: Any = Interfaces(
        "The hardware interfaces, a list of texts.", field="hardware_interfaces"
    )


class TransmissionJoint(URDFType):
    """A joint that a transmission drives."""

    _RECORD = records.TransmissionJoint

    name: Any = Text("The name of the joint, not empty.", filled=True)
    hardwareInterfaces: Any = Interfaces(
        "The hardware interfaces, a list of texts.", field="hardware_interfaces"
    )


class Transmission(URDFType):
    """The actuators and the joints that they drive."""

    _RECORD = records.Transmission

    name: Any = Text("The name of the transmission, not empty.", filled=True)
    trans_type: Any = Text("The type of the transmission.", unsaid=True, field="type")
    joints: Any = Parts("The joints that it drives.", TransmissionJoint, required=True)
    actuators: Any = Parts("The actuators that drive them.", Actuator, required=True)
