"""What closes the loops of a model, and the text of its side-car file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Loops:
    """Loops and actuated joints, in order."""

    actuated: tuple[str, ...]
    _lines: list[str] = field(default_factory=list)

    def close(self, name: str, frames: tuple[str, str], kind: str, length: float = 0.0) -> None:
        """A loop between two frames."""
        more = f", distance: {length!r}" if length else ""
        text = f"name: {name}, frame_a: {frames[0]}, frame_b: {frames[1]}, kind: {kind}{more}"
        self._lines.append(f"  - {{{text}}}")

    def text(self) -> str:
        """The file beside the URDF file."""
        actuated = f"actuated: [{', '.join(self.actuated)}]"
        return "\n".join(["version: 1", "loops:", *self._lines, actuated]) + "\n"
