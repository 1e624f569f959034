"""Drake: MultibodyPlant through pydrake."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, part


class PEER(Peer):
    """The plant with its root welded to the world; Jacobian rows angular first.

    Batches are loops: its documentation has no call for many configurations of one plant.
    """

    name = "drake"
    module = "pydrake"
    imports = ("pydrake.multibody.plant:MultibodyPlant",)
    requirement = (
        "drake==1.58.0; python_version >= '3.12'",
        "drake==1.51.1; python_version < '3.12'",
        "numpy==2.4.6",
    )

    def load(self, path: str, tip: str) -> None:
        """Parse, weld, finalize."""
        logging.getLogger("drake").setLevel(logging.ERROR)
        self.plant, bodies = self._parse(path)
        self.context: Any = self.plant.CreateDefaultContext()
        self.tip: Any = self.plant.GetBodyByName(tip)
        plant = self.plant
        joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
        joints = [joint for joint in joints if joint.num_positions()]
        if any(j.num_positions() != 1 or j.num_velocities() != 1 for j in joints):
            raise ValueError("a joint with more than one coordinate: the cases have none")
        joints.sort(key=lambda joint: joint.position_start())
        if [joint.velocity_start() for joint in joints] != list(range(len(joints))):
            raise ValueError("velocities are in another order than positions")
        self.joint_names = [joint.name() for joint in joints]
        self.bodies: list[Any] = bodies
        self.frame_names = [body.name() for body in bodies]

    @staticmethod
    def _parse(path: str) -> tuple[Any, list[Any]]:
        plant: Any = part("pydrake.multibody.plant").MultibodyPlant(0.0)
        model = part("pydrake.multibody.parsing").Parser(plant).AddModels(path)[0]
        bodies = [plant.get_body(index) for index in plant.GetBodyIndices(model)]
        joints = [plant.get_joint(index) for index in plant.GetJointIndices(model)]
        below = {joint.child_body().name() for joint in joints}
        root = next(body for body in bodies if body.name() not in below)
        plant.WeldFrames(plant.world_frame(), root.body_frame())
        plant.Finalize()
        return plant, bodies

    def _names(self, **more: Any) -> dict[str, Any]:
        return {"plant": self.plant, "context": self.context, "tip": self.tip, **more}

    def pose(self) -> list[Line]:
        """As a 4x4 array, by the plant and by the body."""
        set_q = "plant.SetPositions(context, q); "
        return [
            Line(
                "EvalBodyPoseInWorld",
                set_q + "r = plant.EvalBodyPoseInWorld(context, tip).GetAsMatrix4()",
                self._names(),
                "arrays",
            ),
            Line(
                "EvalBodyPoseInWorld (its own object)",
                set_q + "r = plant.EvalBodyPoseInWorld(context, tip)",
                self._names(),
                "object",
                read=lambda r, q: np.array(r.GetAsMatrix4()),
            ),
        ]

    def all_poses(self) -> list[Line]:
        """Computed at the first body asked for; and handed over as arrays."""
        plant, context, bodies = self.plant, self.context, self.bodies

        def kept(r: Any, q: Any) -> Floats:
            found = [plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4() for body in bodies]
            return np.array(found)

        return [
            Line(
                "EvalBodyPoseInWorld of one body (all are computed, left in C++)",
                "plant.SetPositions(context, q); plant.EvalBodyPoseInWorld(context, tip)",
                self._names(),
                "computed",
                read=kept,
            ),
            Line(
                "EvalBodyPoseInWorld of every body, as arrays",
                "plant.SetPositions(context, q)\n"
                "r = [plant.EvalBodyPoseInWorld(context, b).GetAsMatrix4() for b in bodies]",
                self._names(bodies=bodies),
                "arrays",
            ),
        ]

    def jacobian(self) -> list[Line]:
        """At the tip's origin, axes of the world; rows turned round for the check only."""
        return [
            Line(
                "CalcJacobianSpatialVelocity",
                "plant.SetPositions(context, q)\n"
                "r = plant.CalcJacobianSpatialVelocity(context, v, frame, zero, world, world)",
                self._names(
                    v=part("pydrake.multibody.tree").JacobianWrtVariable.kV,
                    frame=self.tip.body_frame(),
                    zero=np.zeros(3),
                    world=self.plant.world_frame(),
                ),
                "arrays",
                read=lambda r, q: np.vstack([r[3:], r[:3]]),
            )
        ]

    def load_lines(self) -> list[Line]:
        """Parse, weld and finalize, without a scene graph (so without meshes)."""
        logging.getLogger("drake").setLevel(logging.ERROR)
        return [Line("Parser + Finalize", "r = parse(q)", {"parse": self._parse}, "load")]
