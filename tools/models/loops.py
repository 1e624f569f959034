"""What closes the loops of a model, and the text of its side-car file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Loops:
    """Loops and actuated joints, in order."""

    actuated: tuple[str, ...]
    _lines: list[str] = field(default_factory=list)
    _coupled: list[str] = field(default_factory=list)

    def close(self, name: str, frames: tuple[str, str], kind: str, length: float = 0.0) -> None:
        """A loop between two frames."""
        more = f", distance: {length!r}" if length else ""
        text = f"name: {name}, frame_a: {frames[0]}, frame_b: {frames[1]}, kind: {kind}{more}"
        self._lines.append(f"  - {{{text}}}")

    def couple(self, joint: str, leader: str, rate: float) -> None:
        """A joint that moves ``rate`` times as far as its leader."""
        self._coupled.append(f"  - {{joint: {joint}, leaders: [{leader}], rates: [{rate!r}]}}")

    def text(self) -> str:
        """The file beside the URDF file."""
        coupled = ["couplings:", *self._coupled] if self._coupled else []
        actuated = f"actuated: [{', '.join(self.actuated)}]"
        return "\n".join(["version: 1", "loops:", *self._lines, *coupled, actuated]) + "\n"
