"""Links, base and tool of a robot, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.exudyn_robotics.transformations import HT0, as_HT

Floats = NDArray[np.float64]

JOINTS: dict[str, tuple[int, bool]] = {
    f"{kind}{axis}": (k, kind == "R") for kind in "RP" for k, axis in enumerate("xyz")
}
"""Types of joints, each with the number of its axis, and whether it turns."""


def _shown(T: Floats) -> str:
    rows = ",".join("[" + ",".join(f"{x:g}" for x in row[:3]) + "]" for row in T[:3].tolist())
    return f"HT(rotation=[{rows}], translation=[{','.join(f'{x:g}' for x in T[:3, 3].tolist())}])"


def _transformation(name: str, doc: str) -> Any:
    """The property of a transformation (4, 4), which takes what `as_HT` does."""

    def put(self: Any, T: Any) -> None:
        setattr(self, f"_{name}", as_HT(T))

    return property(attrgetter(f"_{name}"), put, doc=doc)


class VRobotLink:
    """The drawing of a link: sizes in m, colour as red, green, blue and opacity from 0 to 1.

    With ``graphicsData`` these are drawn, and nothing is made of the link's geometry.
    """

    def __init__(
        self,
        jointRadius: float = 0.06,
        jointWidth: float = 0.12,
        linkWidth: float = 0.1,
        showMBSjoint: bool = True,
        showCOM: bool = True,
        linkColor: Sequence[float] = (0.4, 0.4, 0.4, 1),
        graphicsData: Sequence[Any] = (),
    ) -> None:
        self.jointRadius = jointRadius
        self.jointWidth = jointWidth
        self.showMBSjoint = showMBSjoint
        self.linkWidth = linkWidth
        self.linkColor = list(linkColor)
        self.showCOM = showCOM
        self.graphicsData = list(graphicsData)

    def __str__(self) -> str:
        return "\n".join(f"  {name} = {value}" for name, value in vars(self).items())

    __repr__ = __str__


class _Drawn:
    """A drawing by a list of exudyn's GraphicsData."""

    def __init__(self, graphicsData: Sequence[Any] = ()) -> None:
        self.graphicsData = list(graphicsData)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(graphicsData={self.graphicsData})"


class VRobotTool(_Drawn):
    """The drawing of a tool."""


class VRobotBase(_Drawn):
    """The drawing of a base."""


class _Placed:
    """A part at a transformation, which may be given as lists, as an array or as exudyn's HT."""

    _drawn: type[_Drawn]
    HT = _transformation("HT", "The transformation (4, 4), m.")

    def __init__(self, HT: Any = None, visualization: Any = None) -> None:
        self.HT = HT0() if HT is None else HT  # pyright: ignore[reportConstantRedefinition]
        self.visualization = self._drawn() if visualization is None else visualization

    def __str__(self) -> str:
        return f"  HT = {_shown(self.HT)}"

    __repr__ = __str__


class RobotTool(_Placed):
    """The tool of a robot: its transformation from the last link."""

    _drawn = VRobotTool


class RobotBase(_Placed):
    """The base of a robot: its transformation from the world."""

    _drawn = VRobotBase


class RobotLink:
    """A link with the joint before it.

    ``mass`` in kg, ``COM`` (3,) in the link's frame (m), ``inertia`` (3, 3) about it along the
    link's axes (kg m²). ``preHT`` leads from the parent link's frame to the joint, ``localHT`` from
    the joint, once it has moved, to the link's frame. ``jointType``: Rx, Ry, Rz turn and Px, Py, Pz
    slide about or along that axis of the joint. ``parent``: the index of a link, -1 for the ground,
    -2 for the link before. ``PDcontrol``: gains (P, D) of position and velocity.

    Raises: InputError, ShapeError (ValueErrors) for another type of joint, another shape, and what
    are no numbers.
    """

    def __init__(  # noqa: PLR0913, PLR0917  as the original has them
        self,
        mass: float,
        COM: ArrayLike,
        inertia: ArrayLike,
        localHT: Any = None,
        jointType: str = "Rz",
        parent: int = -2,
        preHT: Any = None,
        PDcontrol: tuple[Any, Any] = (None, None),
        visualization: VRobotLink | None = None,
    ) -> None:
        self.mass = mass
        self.COM = real_array(COM, "COM").copy()
        self.inertia = real_array(inertia, "inertia").copy()
        if self.COM.shape != (3,) or self.inertia.shape != (3, 3):
            raise ShapeError(
                f"COM is (3,) and inertia (3, 3), not {self.COM.shape} and {self.inertia.shape}"
            )
        self.localHT = HT0() if localHT is None else localHT
        self.preHT = HT0() if preHT is None else preHT
        self.jointType = jointType
        self.parent = parent
        self.visualization = VRobotLink() if visualization is None else visualization
        self.SetPDcontrol(*PDcontrol)

    localHT = _transformation(
        "localHT", "The transformation (4, 4) from the moved joint to the link's frame, m."
    )
    preHT = _transformation(
        "preHT", "The transformation (4, 4) from the parent link's frame to the joint, m."
    )

    @property
    def jointType(self) -> str:
        """The joint: Rx, Ry or Rz turns, Px, Py or Pz slides.

        Raises: InputError (a ValueError), set to anything else.
        """
        return self._jointType

    @jointType.setter
    def jointType(self, name: str) -> None:
        if name not in JOINTS:
            raise InputError(f"jointType is one of {', '.join(JOINTS)}, not {name!r:.40}")
        self._jointType = name

    @property
    def axis(self) -> Floats:
        """The axis (3,) of the joint, in the frame of the joint."""
        return np.eye(3)[JOINTS[self._jointType][0]]

    @property
    def turns(self) -> bool:
        """Whether the joint turns, and does not slide."""
        return JOINTS[self._jointType][1]

    def SetPDcontrol(self, Pvalue: Any, Dvalue: Any) -> None:
        """Set the gains of position (N m/rad or N/m) and velocity (N m s/rad or N s/m).

        None as ``Pvalue`` takes them away.
        """
        if Pvalue is not None:
            self.PDcontrol = (Pvalue, Dvalue)
        elif self.HasPDcontrol():
            del self.PDcontrol

    def HasPDcontrol(self) -> bool:
        """Whether gains have been set."""
        return hasattr(self, "PDcontrol")

    def GetPDcontrol(self) -> tuple[Any, Any]:
        """The gains (P, D).

        Raises: InputError (a ValueError) where none have been set.
        """
        if not self.HasPDcontrol():
            raise InputError("PDcontrol is not set: SetPDcontrol(P, D) or RobotLink(PDcontrol=)")
        return self.PDcontrol

    def __str__(self) -> str:
        lines = [
            f"  mass = {self.mass}",
            f"  COM = {self.COM}",
            f"  inertia = {self.inertia}",
            f"  localHT = {_shown(self.localHT)}",
            f"  preHT = {_shown(self.preHT)}",
            f"  jointType = {self.jointType}",
            f"  parent = {self.parent}",
            f"  visualization:\n{self.visualization}",
        ]
        if self.HasPDcontrol():
            lines.append(f"  PDcontrol = {self.PDcontrol}")
        return "\n".join(lines)

    __repr__ = __str__
