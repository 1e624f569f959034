"""The methods of `Robot` for seeing it: drawings, the page in the browser, films, files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.robot import Robot
    from linkwork.view.drawing import Drawing
    from linkwork.view.live import Viewer
    from linkwork.view.render import Rendered


class RobotView:
    """Methods that show a robot."""

    def plot(self, q: ArrayLike | None = None, **how: Any) -> Drawing:
        """A drawing of the robot at q (nq,), by default neutral; several q (n, nq) as ghosts.

        Without a display or an extra; `Drawing.save` writes SVG and PNG. The options are those of
        `linkwork.view.drawing.drawing`: shapes, view, size, frames, labels, com, loops, ground,
        title, path and allow.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        from linkwork.view.drawing import drawing  # noqa: PLC0415  not all need it

        return drawing(_robot(self), q, **how)

    def _repr_html_(self) -> str:
        from linkwork.view.reprs import robot_html  # noqa: PLC0415  for notebooks

        return robot_html(_robot(self))

    def view(self, q: ArrayLike | None = None, **how: Any) -> Viewer:
        """A page in the browser with the robot at q (nq,), by default neutral, loops closed.

        It can be moved there and from here: `Viewer.q` is where it is. A notebook shows it in the
        cell. The options are those of `linkwork.view.live.view`: robots, scene, collision, ghost,
        presets, units, show, title, allow, meshes_budget, port, host, open and height.

        Raises: InputError, ShapeError, UnknownNameError before anything is opened.
        """
        from linkwork.view.live import view  # noqa: PLC0415  not all need it

        return view(_robot(self), q, **how)

    def animate(self, trajectory: Any = None, **how: Any) -> Viewer:
        """A page in the browser with the robot on its way along a trajectory.

        ``trajectory``: a `linkwork.trajectory.Trajectory`, a `Simulation`, configurations (n, nq)
        with ``times`` (n,) or a ``duration`` in s, or positions by joint name; by default every
        joint goes to its limits and back. The other options are those of `view`.

        Raises: as `view`.
        """
        from linkwork.view.live import animate  # noqa: PLC0415  not all need it

        return animate(_robot(self), trajectory, **how)

    def export_html(self, path: str | os.PathLike[str], **how: Any) -> Any:
        """One offline page with the robot: a single file that opens from a disk."""
        from linkwork.view.page import export_html  # noqa: PLC0415  not all need it

        return export_html(_robot(self), path, **how)

    def export_glb(self, path: str | os.PathLike[str], **how: Any) -> Any:
        """A glTF file with the robot, and its motion where there is a trajectory."""
        from linkwork.view.gltf import export_glb  # noqa: PLC0415  not all need it

        return export_glb(_robot(self), path, **how)

    def render(
        self, path: str | os.PathLike[str], q: Configuration | None = None, **how: Any
    ) -> Rendered:
        """A shaded picture (.png) of the robot at q (nq,), by default neutral, or a film of it.

        A film (.gif, .mp4) shows a trajectory. Neither needs a display.
        """
        from linkwork.view.render import render  # noqa: PLC0415  not all need it

        return render(_robot(self), path, q, **how)


def _robot(part: RobotView) -> Robot:
    """The robot whose methods these are."""
    return cast("Robot", part)
