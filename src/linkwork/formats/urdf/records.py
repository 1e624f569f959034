"""The content of a URDF as plain records: nothing computed or opened, names as written.

Units: metre, radian, kilogram, newton, second, in the frames that the URDF standard names. An
optional value that is absent is None where the standard gives no default (limits, a material's
colour), and the standard's default elsewhere.

Equality compares what a description says. Where it says it does not count, nor do comments:
``line`` is the line in the file; ``position`` the place among the elements, unknown elements and
comments of the owner, counted as they begin (None for what was made in code); ``layout`` has the
tag of the element at each position, "" where there is none (a comment, an unknown element), and is
there for records of which some elements are no records themselves (``<origin>``).

Source: https://wiki.ros.org/urdf/XML and the pages below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from linkwork.errors import Finding

Vector3: TypeAlias = "tuple[float, float, float]"
Matrix3: TypeAlias = "tuple[Vector3, Vector3, Vector3]"
Rgba: TypeAlias = "tuple[float, float, float, float]"

ZERO: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ExtraElement:
    """An element that URDF does not define (``<gazebo>``, a sensor), as its text in the file.

    ``within`` is the element it stands in: its owner's, or a part of it such as ``<geometry>``.
    """

    within: str
    tag: str
    xml: str
    position: int | None = field(default=None, compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExtraAttribute:
    """An attribute that URDF does not define (a name space too), on the element ``within``.

    ``position`` is that of the element where this is no record.
    """

    within: str
    name: str
    value: str
    position: int | None = field(default=None, compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, or a processing instruction where there is a ``target``; it says nothing.

    ``within`` is as for an `ExtraElement`; empty around ``<robot>``.
    """

    within: str
    text: str
    position: int | None = field(default=None, compare=False)
    line: int = field(default=0, compare=False)
    target: str = ""


Extra: TypeAlias = "tuple[ExtraElement | ExtraAttribute, ...]"
Comments: TypeAlias = "tuple[Comment, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The fields of every record, given by name: what else stood in its element, and where."""

    extra: Extra = ()
    line: int = field(default=0, compare=False, repr=False)
    position: int | None = field(default=None, compare=False, repr=False)
    comments: Comments = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOut(Record):
    """A record of which some elements are no records themselves."""

    layout: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Box(Record):
    """A box centred at its origin; ``size`` are the full lengths of its sides, metre."""

    size: Vector3


@dataclass(frozen=True, slots=True)
class Cylinder(Record):
    """A cylinder along z, centred at its origin."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Sphere(Record):
    """A sphere centred at its origin."""

    radius: float


@dataclass(frozen=True, slots=True)
class Capsule(Record):
    """A cylinder along z with half spheres at both ends; ``length`` is without these."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Mesh(Record):
    """A mesh file, its name as written (``package://...`` included), and its scale (3,).

    The scale is None where a file says one that is not three numbers; `extra` has its text.
    """

    filename: str
    scale: Vector3 | None = (1.0, 1.0, 1.0)


Shape: TypeAlias = "Box | Cylinder | Sphere | Capsule | Mesh"


@dataclass(frozen=True, slots=True)
class Material(LaidOut):
    """A material; with neither ``rgba`` nor ``texture`` it refers to the one of that name.

    ``rgba`` is None too where a file says one that is not four numbers; `extra` has its text.
    """

    name: str
    rgba: Rgba | None = None
    texture: str | None = None


@dataclass(frozen=True, slots=True)
class Shown(LaidOut):
    """One shape of a link, placed in the link's frame."""

    name: str | None
    xyz: Vector3
    rpy: Vector3
    geometry: Shape | None
    material: Material | None = None


@dataclass(frozen=True, slots=True)
class Visual(Shown):
    """A visual shape of a link."""


@dataclass(frozen=True, slots=True)
class Collision(Shown):
    """A collision shape of a link."""


@dataclass(frozen=True, slots=True)
class Inertial(LaidOut):
    """Mass, and the inertia (3x3, kg m²) about the centre of mass in the axes of this origin.

    None is what a file does not say: it is unknown, not zero. Of an inertia that a file says in
    part `extra` has the texts.
    """

    xyz: Vector3
    rpy: Vector3
    mass: float | None
    inertia: Matrix3 | None


@dataclass(frozen=True, slots=True)
class Link(Record):
    """A rigid link; without ``inertial`` it has no mass."""

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Collision, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit(Record):
    """Bounds of a joint: position in m or rad, effort in N or N m, velocity in m/s or rad/s.

    None where the file gives none: a missing bound means unlimited.
    """

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None


@dataclass(frozen=True, slots=True)
class Dynamics(Record):
    """Damping (N s/m or N m s/rad) and static friction (N or N m) of a joint."""

    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, slots=True)
class Mimic(Record):
    """A coupling to another joint: position = multiplier * (position of ``joint``) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Safety(Record):
    """A ``<safety_controller>``: soft limits and the gains that keep the joint within them."""

    k_velocity: float | None = None
    k_position: float = 0.0
    soft_lower_limit: float | None = None
    soft_upper_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration(Record):
    """Positions at which a reference mark of the joint is seen; None where not given."""

    rising: float | None = None
    falling: float | None = None
    reference_position: float | None = None


@dataclass(frozen=True, slots=True)
class Joint(LaidOut):
    """A joint: its frame (``xyz``, ``rpy``) in the parent link, and its axis in that frame.

    ``axis`` is as written, not normalised. ``type`` is one of `schema.JOINT_TYPES`.
    """

    name: str
    type: str
    parent: str
    child: str
    xyz: Vector3 = ZERO
    rpy: Vector3 = ZERO
    axis: Vector3 = (1.0, 0.0, 0.0)
    limit: Limit | None = None
    dynamics: Dynamics | None = None
    mimic: Mimic | None = None
    safety: Safety | None = None
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True)
class TransmissionJoint(LaidOut):
    """A joint that a transmission drives."""

    name: str
    hardware_interfaces: tuple[str, ...] = ()
    mechanical_reduction: str | None = None


@dataclass(frozen=True, slots=True)
class Actuator(LaidOut):
    """An actuator of a transmission; the reduction is kept as the text that it is."""

    name: str
    mechanical_reduction: str | None = None
    hardware_interfaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transmission(LaidOut):
    """A ``<transmission>``: which actuators drive which joints, for controllers to read."""

    name: str
    type: str | None = None
    joints: tuple[TransmissionJoint, ...] = ()
    actuators: tuple[Actuator, ...] = ()


@dataclass(frozen=True, slots=True)
class Robot(Record):
    """A whole description, everything in the order of the file.

    ``source`` is what `linkwork.urdf.read` read it from: writing changes there what was changed
    here, and nothing else. None where the text was not kept.
    """

    name: str
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    transmissions: tuple[Transmission, ...] = ()
    materials: tuple[Material, ...] = ()
    version: str | None = None
    file: str | None = field(default=None, compare=False)
    source: Source | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """The text or the bytes of a description, and the robot that they say."""

    text: str | bytes
    robot: Robot


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read: the robot, and warnings and notes by line."""

    robot: Robot
    problems: tuple[Finding, ...] = ()
