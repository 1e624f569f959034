"""frax: kinematics and dynamics in JAX."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import Description, read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, part


class PEER(Peer):
    """`Manipulator` for a chain, `Humanoid` for a tree; each call jitted, batches by vmap.

    In double precision on one thread of the CPU, with the JAX settings its README asks for. Links
    that are fixed to others have no pose of their own.
    """

    name = "frax"
    module = "frax"
    requirement = ("frax==0.1.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6")
    environment = MappingProxyType(
        {
            "JAX_ENABLE_X64": "1",
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 "
            "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
        }
    )
    moving_links_only = True
    compiles = True
    lacks = MappingProxyType({"load": "it fuses fixed links and needs grippers fixed beforehand"})

    def load(self, path: str, tip: str) -> None:
        """The tip is an offset from the last moving joint over it."""
        description = read(path)
        self.robot, self.end = self._robot(path, description, tip)
        self.joint_names = list(self.robot.joint_names)
        child = {joint.name: joint.child for joint in description.joints}
        self.frame_names = [child[name] for name in self.joint_names]
        self.functions: dict[str, tuple[Any, Any]] = {}

    def _robot(self, path: str, description: Description, tip: str) -> tuple[Any, str]:
        place = description.place(tip)
        moving = description.moving
        on_chain = description.chain_first(tip)[1]
        if on_chain == len(moving):
            return self.library.Manipulator(path, ee_offset=place.T), "ee"
        # every limb must be named; ours is the left hand, the others are not asked for
        limbs = {
            f"{limb}_parent_joint_name": place.joint
            for limb in ("left_hand", "right_hand", "left_foot", "right_foot")
        }
        robot = self.library.Humanoid(
            path, **limbs, left_hand_ee_offset=place.T, floating_base=None
        )
        return robot, "left_hand"

    def _function(self, operation: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The jitted function of one configuration, and of a batch."""
        if operation not in self.functions:
            jax = part("jax")
            call = {
                "pose": getattr(self.robot, f"{self.end}_transform"),
                "all_poses": self.robot.joint_to_world_transforms,
                "jacobian": getattr(self.robot, f"{self.end}_jacobian"),
            }[operation]
            self.functions[operation] = (jax.jit(call), jax.jit(jax.vmap(call)))
        return self.functions[operation]

    def _lines(self, operation: str) -> list[Line]:
        f, _ = self._function(operation)
        names = {"f": f, "asarray": np.asarray}
        return [
            Line("jit, as an array", "r = asarray(f(q))", names, "arrays"),
            Line("jit, waited for", "r = f(q).block_until_ready()", {"f": f}, "computed"),
        ]

    def pose(self) -> list[Line]:
        """The end's transform."""
        return self._lines("pose")

    def all_poses(self) -> list[Line]:
        """The frame of every joint, which is its link's."""
        return self._lines("all_poses")

    def jacobian(self) -> list[Line]:
        """The end's Jacobian, linear rows first."""
        return self._lines("jacobian")

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """One call for all rows."""
        _, f = self._function(operation)
        names = {"f": f, "asarray": np.asarray}
        return [Line("jit(vmap), as an array", "r = asarray(f(q))", names, "batch", by_row=False)]
