"""What is known of a function without its graph: names, shapes, size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Signature:
    """Names and row-major shapes of the inputs and outputs, and how many operations there are.

    Every input is a vector. ``instructions`` counts operations, loads and stores of the graph.
    """

    name: str
    input_names: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_names: tuple[str, ...]
    output_shapes: tuple[Shape, ...]
    instructions: int

    @property
    def input_sizes(self) -> tuple[int, ...]:
        """The sizes of the inputs."""
        return tuple(size(shape) for shape in self.input_shapes)

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """How many numbers each output has."""
        return tuple(size(shape) for shape in self.output_shapes)

    def to_facts(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> Signature:
        """The signature that `to_facts` made these of.

        Raises: KeyError, TypeError or ValueError for anything else.
        """
        return Signature(
            name=str(facts["name"]),
            input_names=tuple(str(name) for name in facts["input_names"]),
            input_shapes=_shapes(facts["input_shapes"]),
            output_names=tuple(str(name) for name in facts["output_names"]),
            output_shapes=_shapes(facts["output_shapes"]),
            instructions=int(facts["instructions"]),
        )


def _shapes(listed: Any) -> tuple[Shape, ...]:
    return tuple(tuple(int(n) for n in shape) for shape in listed)


def size(shape: Shape) -> int:
    """How many numbers an array of this shape holds."""
    return math.prod(shape)
