"""Rows S2-125 to S2-136: transmissions, with the joints and actuators that they connect."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType
from linkwork.faces.urdfpy.values import Parts, Text, Value, WrongTypeError


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


class Actuator(URDFType):
    """An actuator of a transmission."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _TAG = "actuator"
    _needed = 1

    name: Any = Text("The name of the actuator, not empty.", filled=True)
    mechanicalReduction: Any = Text(
        "The reduction, as the text in the file; or None.", optional=True
    )  # the XML's spelling, which the original took over
    hardwareInterfaces: Any = Interfaces("The hardware interfaces, a list of texts.")

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name


class TransmissionJoint(URDFType):
    """A joint that a transmission drives."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _TAG = "joint"
    _needed = 1

    name: Any = Text("The name of the joint, not empty.", filled=True)
    hardwareInterfaces: Any = Interfaces("The hardware interfaces, a list of texts.")

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name


class Transmission(URDFType):
    """Which actuators drive which joints."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {
        "joints": (TransmissionJoint, True, True),
        "actuators": (Actuator, True, True),
    }
    _TAG = "transmission"
    _needed = 2

    name: Any = Text("The name of the transmission, not empty.", filled=True)
    trans_type: Any = Text("The type of the transmission.")
    joints: Any = Parts("The joints that it drives.", TransmissionJoint)
    actuators: Any = Parts("The actuators that drive them.", Actuator)

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name
