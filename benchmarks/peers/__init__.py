"""The sides of a comparison: one file each, found by its name."""

from __future__ import annotations

import importlib
from pathlib import Path

from benchmarks.peers.base import Peer

_NOT_PEERS = {"__init__", "base"}
_FIRST = ("linkwork", "pinocchio")  # ours, then the one that the marks speak of


def peer_names() -> list[str]:
    """Every peer there is a file for; Linkwork first, then Pinocchio, then by name."""
    names = {path.stem for path in Path(__file__).parent.glob("*.py")} - _NOT_PEERS
    return sorted(names, key=lambda name: (*(name != first for first in _FIRST), name))


def create_peer(name: str) -> Peer:
    """The peer of this name; its library is not imported before `Peer.load`.

    Raises: ValueError for a name without a file.
    """
    if name not in peer_names():
        raise ValueError(f"no peer '{name}'; there are: {', '.join(peer_names())}")
    module = importlib.import_module(f"benchmarks.peers.{name}")
    peer: Peer = module.PEER()
    return peer
