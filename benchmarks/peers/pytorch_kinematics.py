"""pytorch_kinematics: chains in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read, with_zeros
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, part

# measured: 2e-8 to 9e-8 off in float64, with float64 as PyTorch's default type too
_ROUNDED = (1e-6, "constants are rounded to single precision when it reads the file")


class PEER(Peer):
    """In double precision on one thread of the CPU, without gradients.

    Pose and Jacobian by the serial chain to the tip, all poses by the whole tree. A Jacobian column
    of a joint off the chain is zero. Inputs are tensors that share a NumPy array's memory.
    """

    name = "pytorch_kinematics"
    module = "pytorch_kinematics"
    requirement = ("pytorch-kinematics==0.10.0", "torch==2.13.0", "numpy==2.4.6")
    looser = MappingProxyType(dict.fromkeys(("pose", "all_poses", "jacobian"), _ROUNDED))
    lacks = MappingProxyType({"load": "it reads a chain or tree, not the whole file"})

    def load(self, path: str, tip: str) -> None:
        """Build the tree and the chain to the tip."""
        pk: Any = self.library
        torch = self.torch = part("torch")
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        with open(path, "rb") as file:
            text = file.read()
        self.tree: Any = pk.build_chain_from_urdf(text).to(dtype=torch.float64)
        self.chain: Any = pk.build_serial_chain_from_urdf(text, tip).to(dtype=torch.float64)
        self.tree_names = list(self.tree.get_joint_parameter_names())
        on_chain = list(self.chain.get_joint_parameter_names())
        self.count = len(on_chain)
        self.joint_names = [*on_chain, *(n for n in self.tree_names if n not in on_chain)]
        self.frame_names = list(read(path).links)
        self.of_tree = [self.joint_names.index(name) for name in self.tree_names]

    def _tensor(self, q: Any) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(q[..., : self.count]))

    def _tree_tensor(self, q: Any) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(q[..., self.of_tree]))

    def _all(self, r: Any, many: bool) -> Floats:
        found = np.stack([np.array(r[name].get_matrix()) for name in self.frame_names], axis=1)
        return found if many else found[0]

    def _lines(self, operation: str, many: bool) -> list[Line]:
        first: Callable[[Any], Any] = (lambda x: x) if many else (lambda x: x[0])
        n = len(self.joint_names)

        def padded(r: Any, q: Any) -> Floats:
            full = [with_zeros(J, n) for J in np.array(r)]
            return np.array(full if many else full[0])

        role, by_row = ("batch", False) if many else ("tensor", True)
        if operation == "pose":
            return [
                Line(
                    "SerialChain.forward_kinematics, get_matrix()",
                    "r = chain.forward_kinematics(q).get_matrix()",
                    {"chain": self.chain}, role, by_row,
                    lambda r, q: np.array(first(r)), self._tensor,
                )
            ]  # fmt: skip
        if operation == "jacobian":
            return [
                Line(
                    "SerialChain.jacobian", "r = chain.jacobian(q)",
                    {"chain": self.chain}, role, by_row, padded, self._tensor,
                )
            ]  # fmt: skip
        return [
            Line(
                "Chain.forward_kinematics", "r = tree.forward_kinematics(q)",
                {"tree": self.tree}, role, by_row,
                lambda r, q: self._all(r, many), self._tree_tensor,
            )
        ]  # fmt: skip

    def pose(self) -> list[Line]:
        """A tensor (1, 4, 4)."""
        return self._lines("pose", many=False)

    def all_poses(self) -> list[Line]:
        """A dictionary of transforms."""
        return self._lines("all_poses", many=False)

    def jacobian(self) -> list[Line]:
        """A tensor (1, 6, joints of the chain), axes of the base, linear rows first."""
        return self._lines("jacobian", many=False)

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """All rows in one call."""
        return self._lines(operation, many=True)
