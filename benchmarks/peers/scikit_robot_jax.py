"""scikit-robot with its JAX back end, for inverse kinematics in batches."""

from __future__ import annotations

from types import MappingProxyType

from benchmarks.lines import Line
from benchmarks.peers import scikit_robot

_ELSEWHERE = "measured as scikit_robot"


class PEER(scikit_robot.PEER):
    """The same calls, compiled: its first call, which compiles, is made before the clock starts."""

    name = "scikit_robot_jax"
    requirement = (*scikit_robot.PEER.requirement, "jax==0.10.2", "jaxlie==1.5.0")
    lacks = MappingProxyType(
        {"pose": _ELSEWHERE, "all_poses": _ELSEWHERE, "jacobian": _ELSEWHERE, "load": _ELSEWHERE}
    )  # fmt: skip
    ik_most = 4_000
    backend = "jax"

    def ik_one_lines(self) -> list[Line]:
        """Not measured: it is made for batches, and compiles for each size."""
        return []
