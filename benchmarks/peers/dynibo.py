"""dynibo: Rust behind a Python API."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.description import from_quaternion, pose, poses, read
from benchmarks.lines import Line, split_state
from benchmarks.peers.base import Floats, Peer


class PEER(Peer):
    """Poses as translation and quaternion; matrices flat by columns, angular rows first.

    Its documentation has no call for a batch: batches are loops.
    """

    name = "dynibo"
    module = "dynibo"
    requirement = ("dynibo==0.5.2", "numpy==2.4.6")

    def load(self, path: str, tip: str) -> None:
        """Load; the order of joints is breadth-first, as its examples say, and has no names."""
        description = read(path)
        self.robot: Any = self.library.Robot.from_urdf(path)
        self.tip = self.robot.link_id(tip)
        self.joint_names = description.breadth_first()
        self.frame_names = sorted(description.links, key=self.robot.link_id)

    def _names(self, **more: Any) -> dict[str, Any]:
        return {"robot": self.robot, "tip": self.tip, **more}

    def pose(self) -> list[Line]:
        """The object it gives, and its numbers as Python tuples."""
        return [
            Line(
                "forward_kinematics (its own object)",
                "r = robot.forward_kinematics(q, tip)",
                self._names(),
                "object",
                read=lambda r, q: pose(r.translation, from_quaternion(r.rotation_xyzw)),
            ),
            Line(
                "forward_kinematics, translation and quaternion",
                "X = robot.forward_kinematics(q, tip); r = (X.translation, X.rotation_xyzw)",
                self._names(),
                "numbers",
                read=lambda r, q: pose(r[0], from_quaternion(r[1])),
            ),
        ]

    def all_poses(self) -> list[Line]:
        """7 numbers a link."""

        def matrices(r: Any, q: Any) -> Floats:
            rows = np.array(r).reshape(-1, 7)
            return poses(rows[:, :3], [from_quaternion(row[3:]) for row in rows])

        out = np.zeros(7 * self.robot.link_count)
        return [
            Line(
                "forward_kinematics_all",
                "r = robot.forward_kinematics_all(q)",
                self._names(),
                "new",
                read=matrices,
            ),
            Line(
                "forward_kinematics_all(out=)",
                "r = robot.forward_kinematics_all(q, out=out)",
                self._names(out=out),
                "out",
                read=lambda r, q: matrices(out, q),
            ),
        ]

    def jacobian(self) -> list[Line]:
        """Angular rows first; turned round for the check only."""
        n = self.robot.generalized_count

        def rows(r: Any, q: Any) -> Floats:
            J = np.array(r).reshape((6, n), order="F")
            return np.vstack([J[3:], J[:3]])

        out = np.zeros(6 * n)
        return [
            Line("jacobian", "r = robot.jacobian(q, tip)", self._names(), "new", read=rows),
            Line(
                "jacobian(out=)",
                "robot.jacobian(q, tip, out=out); r = out",
                self._names(out=out),
                "out",
                read=rows,
            ),
        ]

    def _dynamics(self, name: str) -> list[Line]:
        out = np.zeros(self.robot.generalized_count)
        given = split_state(len(self.joint_names))
        return [
            Line(
                name, f"q, v, a = q; r = robot.{name}(q, v, a)", self._names(), "new", given=given
            ),
            Line(
                f"{name}(out=)",
                f"q, v, a = q; robot.{name}(q, v, a, out=out); r = out",
                self._names(out=out),
                "out",
                given=given,
            ),
        ]

    def inverse_dynamics(self) -> list[Line]:
        """A list, and into an array."""
        return self._dynamics("inverse_dynamics")

    def forward_dynamics(self) -> list[Line]:
        """A list, and into an array."""
        return self._dynamics("forward_dynamics")

    def mass_matrix(self) -> list[Line]:
        """Flat; a list, and into an array."""
        n = self.robot.generalized_count
        out = np.zeros(n * n)

        def square(r: Any, q: Any) -> Floats:
            return np.array(r).reshape(n, n)

        return [
            Line("mass_matrix", "r = robot.mass_matrix(q)", self._names(), "new", read=square),
            Line(
                "mass_matrix(out=)",
                "robot.mass_matrix(q, out=out); r = out",
                self._names(out=out),
                "out",
                read=square,
            ),
        ]

    def load_lines(self) -> list[Line]:
        """The robot, without meshes."""
        names = {"Robot": self.library.Robot}
        return [Line("Robot.from_urdf", "r = Robot.from_urdf(q)", names, "load")]
