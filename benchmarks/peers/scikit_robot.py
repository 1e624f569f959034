"""scikit-robot."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, Solutions, part


class PEER(Peer):
    """`angle_vector`, then the coordinates of links, which it works out when they are asked for.

    Its Jacobian is in single precision. What it does in batches is inverse kinematics; the batches
    here are loops.
    """

    name = "scikit_robot"
    module = "skrobot"
    imports = ("skrobot.models",)
    requirement = ("scikit-robot==0.4.7", "trimesh==5.2.0", "scipy==1.17.1", "numpy==2.4.6")
    ik_most = 2_000
    backend = "numpy"
    looser = MappingProxyType({"jacobian": (1e-5, "it is computed in single precision")})

    def load(self, path: str, tip: str) -> None:
        """A model without meshes, its joints in its own order."""
        self.robot: Any = self._load(path)
        self.path = path
        self.tip: Any = next(link for link in self.robot.link_list if link.name == tip)
        self.joint_names = [joint.name for joint in self.robot.joint_list]
        self.frame_names = [link.name for link in self.robot.link_list]
        self.world: Any = part("skrobot.coordinates").Coordinates()
        self.chain = self._chain(tip)

    def _load(self, path: str) -> Any:
        with part("skrobot.utils.urdf").no_mesh_load_mode():
            return part("skrobot.models.urdf").RobotModelFromURDF(urdf_file=path)

    def _chain(self, tip: str) -> list[Any]:
        """Child links of the joints on the chain, the base first."""
        above = {joint.child_link.name: joint for joint in self.robot.joint_list}
        found: list[Any] = []
        link: Any = self.tip
        while link is not None:
            if link.name in above:
                found.append(link)
            link = getattr(link, "parent_link", None)
        return found[::-1]

    def pose(self) -> list[Line]:
        """A 4x4 array."""
        return [
            Line(
                "angle_vector + worldcoords().T()",
                "robot.angle_vector(q); r = tip.worldcoords().T()",
                {"robot": self.robot, "tip": self.tip},
                "arrays",
            )
        ]

    def all_poses(self) -> list[Line]:
        """Link by link."""
        return [
            Line(
                "angle_vector + worldcoords().T() of every link",
                "robot.angle_vector(q); r = [link.worldcoords().T() for link in links]",
                {"robot": self.robot, "links": list(self.robot.link_list)},
                "arrays",
            )
        ]

    def jacobian(self) -> list[Line]:
        """At the tip, axes of the world, linear rows first; columns of the chain."""
        names = [link.joint.name for link in self.chain]
        columns = [self.joint_names.index(name) for name in names]
        n = len(self.joint_names)

        def full(r: Any, q: Any) -> Floats:
            J = np.zeros((6, n))
            J[:, columns] = r
            return J

        return [
            Line(
                "angle_vector + calc_jacobian_from_link_list",
                "robot.angle_vector(q)\n"
                "r = robot.calc_jacobian_from_link_list(tip, chain, transform_coords=world,\n"
                "    position_mask=True, rotation_mask=True)",
                {"robot": self.robot, "tip": self.tip, "chain": self.chain, "world": self.world},
                "float32",
                read=full,
            )
        ]

    def load_lines(self) -> list[Line]:
        """Without meshes, as its tips show."""
        names = {"load": self._load}
        return [Line("RobotModelFromURDF, no meshes", "r = load(q)", names, "load")]

    def ik_lines(self) -> list[Line]:
        """Its batch, at 0.1 mm and 1 mrad: one try a target, as is its default, and ten random."""
        self._to_the_middle()
        names = self._ik_names()
        call = "r = robot.batch_inverse_kinematics(q, **how"
        ten = "attempts_per_pose=10, retry_seed='random', random_initial_range=0.7"
        return [
            Line(
                f"batch_inverse_kinematics, {self.backend}, {what}", f"{call}{more})", names, role,
                by_row=False, given=self._coordinates,
            )
            for what, role, more in (("one try", "one", ""), ("ten tries", "ten", f", {ten}"))
        ]  # fmt: skip

    def _to_the_middle(self) -> None:
        """Its searches begin where the robot is: the middle of the limits, not outside of them."""
        limits = {joint.name: (joint.lower, joint.upper) for joint in read(self.path).joints}
        bounded = np.clip([limits[name] for name in self.joint_names], -np.pi, np.pi)
        self.robot.angle_vector(bounded.mean(axis=1))

    def _ik_names(self) -> dict[str, Any]:
        how = {
            "move_target": self.tip, "link_list": self.chain, "position_mask": True,
            "rotation_mask": True, "thre": 1e-4, "rthre": 1e-3, "backend": self.backend,
        }  # fmt: skip
        return {"robot": self.robot, "how": how}

    def _coordinates(self, T: Floats) -> list[Any]:
        """Targets as its own objects, made before the clock starts."""
        kind: Any = part("skrobot.coordinates").Coordinates
        return [kind(pos=t[:3, 3], rot=t[:3, :3]) for t in T.reshape(-1, 4, 4)]

    def ik_one_lines(self) -> list[Line]:
        """One target in a list, ten tries."""
        self._to_the_middle()
        statement = (
            "r = robot.batch_inverse_kinematics(q, attempts_per_pose=10, retry_seed='random',\n"
            "    random_initial_range=0.7, **how)"
        )
        label = f"batch_inverse_kinematics, {self.backend}, ten tries"
        return [Line(label, statement, self._ik_names(), "ten", given=self._coordinates)]

    def ik_read(self, r: Any) -> Solutions:
        """Its list of angle vectors."""
        q = np.array([np.asarray(each, dtype=np.float64) for each in r.solutions])
        return Solutions(q, np.array(r.success_flags, dtype=bool))
