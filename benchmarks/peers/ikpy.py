"""ikpy: chains in Python."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, part


class PEER(Peer):
    """A chain from the root to the tip; its input has a place for fixed joints too."""

    name = "ikpy"
    module = "ikpy"
    imports = ("ikpy.chain",)
    requirement = ("ikpy==4.2.1", "scipy==1.17.1", "sympy==1.14.0", "numpy==2.4.6")
    lacks = MappingProxyType(
        {
            "all_poses": "a chain to one link does not reach all of them",
            "jacobian": "it has no Jacobian",
            "load": "it reads one chain, not the file",
        }
    )

    def load(self, path: str, tip: str) -> None:
        """Name the chain's elements, link, joint, link, ..., as its documentation says."""
        description = read(path)
        joints = description.chain(tip)
        elements = [description.root]
        for joint in joints:
            elements += [joint.name, joint.child]
        chain: Any = part("ikpy.chain").Chain
        with warnings.catch_warnings():  # of each fixed joint that it says is active
            warnings.simplefilter("ignore", UserWarning)
            whole = chain.from_urdf_file(path, base_elements=elements)
            names = [link.name for link in whole.links]
            # it follows the first child at the end of the list, beyond the tip
            links = whole.links[: names.index(joints[-1].name) + 1]
            self.chain: Any = chain(links, active_links_mask=[link.has_rotation for link in links])
        self.joint_names, self.count = description.chain_first(tip)
        self.places = [names.index(name) for name in self.joint_names[: self.count]]

    def native(self, values: Floats) -> Floats:
        """The joints of the chain at their places in its own input."""
        q = np.zeros((len(values), len(self.chain.links)))
        q[:, self.places] = values[:, : self.count]
        return q

    def pose(self) -> list[Line]:
        """A 4x4 array."""
        names = {"chain": self.chain}
        statement = "r = chain.forward_kinematics(q)"
        return [Line("Chain.forward_kinematics", statement, names, "arrays")]
