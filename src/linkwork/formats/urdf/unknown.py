"""Remarks on what URDF does not define: kept and not used, and worse where it looks like a slip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache

from linkwork.errors import Level
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.problems import Findings
from linkwork.formats.urdf.schema import JOINT, LINK

# Elements that URDF leaves to others, by agreement: nothing to remark on.
_EXTENSIONS = frozenset({"gazebo", "ros2_control", "sensor", "drake", "mujoco"})
MISPLACED = frozenset({LINK.tag, JOINT.tag})
"""Elements that the tree is made of: to pass over one would change the robot, so it is refused."""

_GUESSES = 100  # unknown names for which a near one is looked for; it takes a while


class Unknown:
    """What one file has that the format has not."""

    def __init__(self, problems: Findings) -> None:
        self.problems = problems
        self.guesses = _GUESSES

    def element(
        self,
        within: str,
        known: Sequence[str],
        label: str,
        *,
        tags: frozenset[str],
        line: int,
        name: str,
    ) -> None:
        """A finding for an unknown element: worse where it looks like a known one of ``tags``."""
        if label in _EXTENSIONS:
            return
        level: Level = "note"
        allowed = ", ".join(f"<{tag}>" for tag in known) or "no elements"
        hint = f"kept, not used; <{within}> takes {allowed}"
        near = self._near(label, known)
        if near:
            level, hint = "warning", f"did you mean <{near}>?"
        elif label in tags:
            level = "warning"
        message = f"URDF has no such element in <{within}>"
        self.problems.add(
            level, "unknown-element", message, line=line, element=label, name=name, hint=hint
        )

    def attributes(
        self, within: str, known: Iterable[str], labels: Sequence[str], *, line: int, name: str
    ) -> None:
        """A finding for the unknown attributes of one element."""
        level: Level = "note"
        hint = ""
        known = tuple(known)
        for label in labels[:10]:
            near = self._near(label, known) if label not in known else ""
            if near:
                level, hint = "warning", f"did you mean '{near}'?"
        listed = ", ".join(f"'{show(label, 40)}'" for label in labels[:5])
        more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
        message = f"URDF has no attribute {listed}{more} here; kept, not used"
        self.problems.add(
            level, "unknown-attribute", message, line=line, element=within, name=name, hint=hint
        )

    def _near(self, label: str, known: Iterable[str]) -> str:
        self.guesses -= 1
        return _nearest(label[:40], tuple(known)) if self.guesses >= 0 else ""


@lru_cache(maxsize=1024)
def _nearest(label: str, known: tuple[str, ...]) -> str:
    """A known name that this one may be a slip of, or nothing."""
    near = get_close_matches(label, known, n=1, cutoff=0.75)
    return near[0] if near else ""
