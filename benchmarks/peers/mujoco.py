"""MuJoCo, through its Python bindings."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.description import pose, poses
from benchmarks.lines import Line, split_state
from benchmarks.peers.base import GRAVITY, Floats, Peer


class PEER(Peer):
    """Two models of one file: every link a body, and links fused with a site at the tip (faster).

    Batches are loops: its `rollout` steps the dynamics, it has no call that computes poses only.
    """

    name = "mujoco"
    module = "mujoco"
    requirement = ("mujoco==4.0.0", "mujoco-core==4.0.0", "numpy==2.4.6")
    needs_no_meshes = False

    def load(self, path: str, tip: str) -> None:
        """Build both models."""
        mujoco: Any = self.library
        spec = mujoco.MjSpec.from_file(path)
        spec.compiler.fusestatic = False
        self.model: Any = spec.compile()
        self.data: Any = mujoco.MjData(self.model)
        self.tip = self.model.body(tip).id
        fused = mujoco.MjSpec.from_file(path)
        fused.compiler.fusestatic = True
        fused.body(tip).add_site(name="tip of the benchmark")
        self.fused: Any = fused.compile()
        self.fused_data: Any = mujoco.MjData(self.fused)
        self.site = self.fused.site("tip of the benchmark").id
        if (self.model.nq, self.model.nv) != (self.model.njnt, self.model.njnt):
            raise ValueError("a joint with more than one coordinate: the cases have none")
        order = np.argsort(self.model.jnt_qposadr)
        self.joint_names = [self.model.joint(int(k)).name for k in order]
        if [self.fused.joint(k).name for k in range(self.fused.njnt)] != self.joint_names:
            raise ValueError("the fused model orders its joints in another way")
        self.frame_names = [self.model.body(k).name for k in range(self.model.nbody)]

    def _names(self) -> dict[str, Any]:
        library, model, data = self.library, self.model, self.data
        return {
            "kinematics": library.mj_kinematics, "com_pos": library.mj_comPos, "model": model,
            "data": data, "qpos": data.qpos, "tip": self.tip,
        }  # fmt: skip

    def _fused_names(self) -> dict[str, Any]:
        model, data = self.fused, self.fused_data
        return {**self._names(), "model": model, "data": data, "qpos": data.qpos, "tip": self.site}

    def pose(self) -> list[Line]:
        """Position and rotation as arrays that look into its data."""
        return [
            Line(
                "mj_kinematics, xpos and xmat",
                "qpos[:] = q; kinematics(model, data); r = (data.xpos[tip], data.xmat[tip])",
                self._names(),
                "arrays",
                read=lambda r, q: pose(*r),
            ),
            Line(
                "mj_kinematics, static bodies fused, site_xpos and site_xmat",
                "qpos[:] = q; kinematics(model, data)\n"
                "r = (data.site_xpos[tip], data.site_xmat[tip])",
                self._fused_names(),
                "fused",
                read=lambda r, q: pose(*r),
            ),
            Line(
                "mj_kinematics, static bodies fused, views kept",
                "qpos[:] = q; kinematics(model, data); r = (p, R)",
                {
                    **self._fused_names(),
                    "p": self.fused_data.site_xpos[self.site],
                    "R": self.fused_data.site_xmat[self.site],
                },
                "kept",
                read=lambda r, q: pose(*r),
            ),
        ]

    def all_poses(self) -> list[Line]:
        """Positions and rotations of all bodies, views into its data."""
        return [
            Line(
                "mj_kinematics, xpos and xmat (views)",
                "qpos[:] = q; kinematics(model, data); r = (data.xpos, data.xmat)",
                self._names(),
                "arrays",
                read=lambda r, q: poses(*r),
            )
        ]

    def jacobian(self) -> list[Line]:
        """Linear and angular part, each into an array of ours."""

        def lines(kind: str, names: dict[str, Any], call: Any, label: str) -> Line:
            jacp, jacr = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
            return Line(
                label,
                "qpos[:] = q; kinematics(model, data); com_pos(model, data)\n"
                "jac(model, data, jacp, jacr, tip); r = (jacp, jacr)",
                {**names, "jac": call, "jacp": jacp, "jacr": jacr},
                kind,
                read=lambda r, q: np.vstack(r),
            )

        m: Any = self.library
        return [
            lines("arrays", self._names(), m.mj_jacBody, "mj_kinematics, mj_comPos, mj_jacBody"),
            lines(
                "fused", self._fused_names(), m.mj_jacSite,
                "mj_kinematics, mj_comPos, mj_jacSite, static bodies fused",
            ),
        ]  # fmt: skip

    def _free_model(self) -> tuple[Any, Any]:
        """The fused model with gravity as `GRAVITY` says and nothing but rigid bodies."""
        library, model = self.library, self.fused
        flags = library.mjtDisableBit
        model.opt.gravity[:] = GRAVITY
        model.opt.disableflags |= int(flags.mjDSBL_CONSTRAINT)
        model.dof_damping[:] = model.dof_armature[:] = model.dof_frictionloss[:] = 0.0
        return model, self.fused_data

    def _state_names(self) -> dict[str, Any]:
        library = self.library
        model, data = self._free_model()
        return {
            "model": model, "data": data, "qpos": data.qpos, "qvel": data.qvel,
            "qacc": data.qacc, "push": data.qfrc_applied, "inverse": library.mj_inverse,
            "forward": library.mj_forward, "kinematics": library.mj_kinematics,
            "com_pos": library.mj_comPos, "crb": library.mj_crb, "full": library.mj_fullM,
        }  # fmt: skip

    def inverse_dynamics(self) -> list[Line]:
        """`mj_inverse` without constraints and damping."""
        return [
            Line(
                "mj_inverse, static bodies fused, no constraints",
                "qpos[:], qvel[:], qacc[:] = q; inverse(model, data); r = data.qfrc_inverse",
                self._state_names(),
                "fused",
                given=split_state(self.fused.nv),
            )
        ]

    def forward_dynamics(self) -> list[Line]:
        """`mj_forward` without constraints and damping."""
        return [
            Line(
                "mj_forward, static bodies fused, no constraints",
                "qpos[:], qvel[:], push[:] = q; forward(model, data); r = data.qacc",
                self._state_names(),
                "fused",
                given=split_state(self.fused.nv),
            )
        ]

    def mass_matrix(self) -> list[Line]:
        """`mj_crb`, its sparse result filled into a matrix."""
        M = np.zeros((self.fused.nv, self.fused.nv))
        return [
            Line(
                "mj_kinematics, mj_comPos, mj_crb, mj_fullM, static bodies fused",
                "qpos[:] = q; kinematics(model, data); com_pos(model, data); crb(model, data)\n"
                "full(model, data, M); r = M",
                {**self._state_names(), "M": M},
                "fused",
            )
        ]

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """The loop, and for poses of all links the loop that stores them."""
        lines = super().batch(operation, q)
        if operation == "all_poses":
            shape = (self.model.nbody, 3), (self.model.nbody, 9)
            lines.append(
                Line(
                    "loop over mj_kinematics, stored",
                    "qpos[:] = q; kinematics(model, data); p[...] = data.xpos; R[...] = data.xmat\n"
                    "r = (p, R)",
                    {**self._names(), "p": np.zeros(shape[0]), "R": np.zeros(shape[1])},
                    "stored",
                    read=lambda r, q: poses(*r),
                )
            )
        return lines

    def load_lines(self) -> list[Line]:
        """Reading and compiling the model."""
        names = {"load": self.library.MjModel.from_xml_path}
        return [Line("MjModel.from_xml_path", "r = load(q)", names, "load")]
