"""PyKDL: the Python bindings of Orocos KDL, as Debian packs them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import Joint, read, with_zeros
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer


class PEER(Peer):
    """A `Chain` from the root to the tip: KDL's solvers know chains, not trees.

    The joints off the chain have no place in its arrays; their Jacobian columns are zero. PyPI has
    only a version of 2018, so Debian's is unpacked into the environment; it is built for Debian's
    own Python (3.11 in bookworm) and another cannot import it.
    """

    name = "pykdl"
    module = "PyKDL"
    requirement = ("numpy==2.4.6",)
    debian = ("python3-pykdl", "liborocos-kdl1.5")
    environment = MappingProxyType(
        {
            "PYTHONPATH": "{folder}/debian/usr/lib/python3/dist-packages",
            "LD_LIBRARY_PATH": "{folder}/debian/usr/lib/x86_64-linux-gnu"
            ":{folder}/debian/usr/lib/aarch64-linux-gnu",
        }
    )
    lacks = MappingProxyType(
        {
            "all_poses": "a chain to one link does not reach all of them",
            "load": "no reader of URDF in it",
        }
    )

    def version(self) -> str:
        """What the library says of itself."""
        return str(self.library.__version__)

    def load(self, path: str, tip: str) -> None:
        """Build the chain joint by joint."""
        kdl: Any = self.library
        description = read(path)
        self.joint_names, self.count = description.chain_first(tip)
        chain = kdl.Chain()
        for joint in description.chain(tip):
            chain.addSegment(self._segment(joint))
        if chain.getNrOfJoints() != self.count:
            raise ValueError("the chain has another number of joints than the file")
        self.chain: Any = chain  # the solvers refer to it and do not keep it alive
        self.fk: Any = kdl.ChainFkSolverPos_recursive(chain)
        self.jac: Any = kdl.ChainJntToJacSolver(chain)

    def _segment(self, joint: Joint) -> Any:
        """A segment ends where its joint, moved, puts the child: so its frame is the joint's."""
        kdl: Any = self.library
        frame = kdl.Frame(kdl.Rotation(*joint.T[:3, :3].ravel()), kdl.Vector(*joint.T[:3, 3]))
        if not joint.moves:
            return kdl.Segment(joint.child, kdl.Joint(joint.name), frame)
        kind = kdl.Joint.TransAxis if joint.type == "prismatic" else kdl.Joint.RotAxis
        axis = kdl.Vector(*(joint.T[:3, :3] @ joint.axis))
        return kdl.Segment(joint.child, kdl.Joint(joint.name, frame.p, axis, kind), frame)

    def native(self, values: Floats) -> Floats:
        """The joints of the chain only."""
        return np.ascontiguousarray(values[:, : self.count])

    def _own(self, row: Any) -> Any:
        array = self.library.JntArray(self.count)
        for k, value in enumerate(row):
            array[k] = float(value)
        return array

    def pose(self) -> list[Line]:
        """Into a frame; from its own array of joints, and from a NumPy one."""
        kdl: Any = self.library
        frame = kdl.Frame()

        def matrix(r: Any, q: Any) -> Floats:
            return np.array(
                [[r[i, j] for j in range(4)] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]
            )

        own = "ChainFkSolverPos_recursive, input in a JntArray already"
        return [
            Line(
                "ChainFkSolverPos_recursive",
                "for k, value in enumerate(q):\n    joints[k] = value\n"
                "fk.JntToCart(joints, frame); r = frame",
                {"fk": self.fk, "frame": frame, "joints": kdl.JntArray(self.count)},
                "numpy",
                read=matrix,
            ),
            Line(
                own, "fk.JntToCart(q, frame); r = frame", {"fk": self.fk, "frame": frame}, "own",
                read=matrix, given=self._own,
            ),
        ]  # fmt: skip

    def jacobian(self) -> list[Line]:
        """At the tip's origin, axes of the base; linear rows first, columns of the chain."""
        kdl: Any = self.library
        J = kdl.Jacobian(self.count)
        n = len(self.joint_names)

        def matrix(r: Any, q: Any) -> Floats:
            known = [[r[i, j] for j in range(self.count)] for i in range(6)]
            return with_zeros(known, n)

        names = {"solver": self.jac, "J": J}
        own = "ChainJntToJacSolver, input in a JntArray already"
        return [
            Line(
                "ChainJntToJacSolver",
                "for k, value in enumerate(q):\n    joints[k] = value\n"
                "solver.JntToJac(joints, J); r = J",
                {**names, "joints": kdl.JntArray(self.count)},
                "numpy",
                read=matrix,
            ),
            Line(
                own, "solver.JntToJac(q, J); r = J", names, "own", read=matrix, given=self._own
            ),
        ]  # fmt: skip
