"""Pinocchio, through its Python bindings, with the calls its documentation shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.lines import Line, split_state
from benchmarks.peers.base import GRAVITY, Floats, Peer


class PEER(Peer):
    """Pinocchio 4; continuous joints are cosine and sine pairs here."""

    name = "pinocchio"
    module = "pinocchio"
    requirement = ("pin==4.1.0", "numpy==2.4.6")
    compiles = True  # it does not: its first call stands beside ours for comparison

    def load(self, path: str, tip: str) -> None:
        """Build the model without meshes and look the tip up once, as a user would."""
        pin: Any = self.library
        self.pin = pin
        self.model: Any = pin.buildModelFromUrdf(path)
        self.model.gravity.linear = np.array(GRAVITY)
        self.data: Any = self.model.createData()
        self.tip = self.model.getFrameId(tip)
        if self.tip >= self.model.nframes:
            raise ValueError(f"no frame '{tip}' in {path}")
        joints = list(zip(self.model.names, self.model.joints, strict=True))[1:]
        if any(joint.nv != 1 for _, joint in joints):
            raise ValueError("a joint with more than one velocity: the cases have none")
        self.joint_names: Sequence[str] = [name for name, _ in joints]
        self._joints = [joint for _, joint in joints]
        # links by their names; joints (and the universe) marked, as a joint may be named as a link
        body = pin.FrameType.BODY
        self.frame_names: Sequence[str] = [
            frame.name if frame.type == body else f"{frame.name}/{frame.type}"
            for frame in self.model.frames
        ]

    def native(self, values: Floats) -> Floats:
        """Cosine and sine for continuous joints, the value itself for the others."""
        q = np.zeros((len(values), self.model.nq))
        for column, joint in enumerate(self._joints):
            if joint.nq == 2:
                q[:, joint.idx_q] = np.cos(values[:, column])
                q[:, joint.idx_q + 1] = np.sin(values[:, column])
            else:
                q[:, joint.idx_q] = values[:, column]
        return q

    def _names(self) -> dict[str, Any]:
        pin = self.pin
        return {
            "pin": pin,
            "model": self.model,
            "data": self.data,
            "tip": self.tip,
            "world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        }

    def pose(self) -> list[Line]:
        """The mark's line, the same with the frame looked up before, and this frame alone."""
        return [
            Line(
                "framesForwardKinematics",
                "pin.framesForwardKinematics(model, data, q); r = data.oMf[tip].homogeneous",
                self._names(),
                "mark",
            ),
            Line(
                "framesForwardKinematics, oMf[id] kept",
                "pin.framesForwardKinematics(model, data, q); r = M.homogeneous",
                {**self._names(), "M": self.data.oMf[self.tip]},
                "kept",
            ),
            Line(
                "forwardKinematics + updateFramePlacement",
                "pin.forwardKinematics(model, data, q)\n"
                "r = pin.updateFramePlacement(model, data, tip).homogeneous",
                self._names(),
                "one frame",
            ),
        ]

    def all_poses(self) -> list[Line]:
        """Computed and left in C++, and handed over as arrays."""
        data = self.data

        def read_data(r: Any, q: Any) -> Floats:
            return np.array([M.homogeneous for M in data.oMf])

        return [
            Line(
                "framesForwardKinematics (left in C++)",
                "pin.framesForwardKinematics(model, data, q)",
                self._names(),
                "computed",
                read=read_data,
            ),
            Line(
                "framesForwardKinematics, as arrays",
                "pin.framesForwardKinematics(model, data, q)\n"
                "r = [M.homogeneous for M in data.oMf]",
                self._names(),
                "arrays",
            ),
        ]

    def jacobian(self) -> list[Line]:
        """The same reference as ours (axes of the base), and the default (axes of the frame)."""
        pin, model, data, tip = self.pin, self.model, self.data, self.tip

        def read_local(r: Any, q: Any) -> Floats:
            local = np.array(r)
            pin.framesForwardKinematics(model, data, q)
            R = data.oMf[tip].rotation
            return np.vstack([R @ local[:3], R @ local[3:]])

        return [
            Line(
                "computeFrameJacobian, LOCAL_WORLD_ALIGNED",
                "r = pin.computeFrameJacobian(model, data, q, tip, world)",
                self._names(),
                "mark",
            ),
            Line(
                "computeFrameJacobian, default",
                "r = pin.computeFrameJacobian(model, data, q, tip)",
                self._names(),
                "local",
                read=read_local,
            ),
        ]

    def _dynamics(self, label: str) -> list[Line]:
        statement = f"q, v, a = q; r = pin.{label}(model, data, q, v, a)"
        given = split_state(self.model.nv)
        return [Line(label, statement, self._names(), "mark", given=given)]

    def inverse_dynamics(self) -> list[Line]:
        """`rnea`."""
        return self._dynamics("rnea")

    def forward_dynamics(self) -> list[Line]:
        """`aba`."""
        return self._dynamics("aba")

    def mass_matrix(self) -> list[Line]:
        """`crba`, which fills the upper triangle of an array of its own; mirrored for the check."""
        return [
            Line(
                "crba",
                "r = pin.crba(model, data, q)",
                self._names(),
                "mark",
                read=lambda r, q: np.triu(r) + np.triu(r, 1).T,
            )
        ]

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """The bare loop (the strictest comparison) and the loop that fills an array."""
        lines = super().batch(operation, q)
        if operation == "all_poses":
            return lines
        n = self.model.nv
        shape = {"pose": (4, 4), "jacobian": (6, n), "mass_matrix": (n, n)}.get(operation, (n,))
        first = self.lines(operation)[0]
        lines.append(
            Line(
                f"loop over {first.label}, stored",
                f"{first.statement}\nout[...] = r",
                {**first.names, "out": np.zeros(shape)},
                "stored",
                read=first.read,
                given=first.given,
            )
        )
        return lines

    def load_lines(self) -> list[Line]:
        """The model alone: no meshes, no geometry."""
        names = {"pin": self.library}
        return [Line("buildModelFromUrdf", "r = pin.buildModelFromUrdf(q)", names, "mark")]

    def reach(self, q: Floats) -> Floats:
        """Poses of the frames asked for, and the centre of mass."""
        pin, model, data, question = self.pin, self.model, self.data, self.question
        frames = [model.getFrameId(name) for name in question.frames] or [self.tip]
        if max(frames) >= model.nframes:
            raise ValueError(f"no frame among {question.frames}")
        found = np.tile(np.eye(4), (len(q), len(frames) + question.com, 1, 1))
        for row, target in zip(q, found, strict=True):
            pin.framesForwardKinematics(model, data, row)
            for k, frame in enumerate(frames):
                target[k] = data.oMf[frame].homogeneous
            if question.com:
                target[-1, :3, 3] = pin.centerOfMass(model, data, row)
        return found if question.several else found[:, 0]
