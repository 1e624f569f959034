"""Signed distance functions: ``skrobot.sdf``."""

from __future__ import annotations

from linkwork.faces.skrobot.sdf.signed_distance_function import (
    BoxSDF,
    CylinderSDF,
    GridSDF,
    SignedDistanceFunction,
    SphereSDF,
    UnionSDF,
    trimesh2sdf,
)

__all__ = [
    "BoxSDF",
    "CylinderSDF",
    "GridSDF",
    "SignedDistanceFunction",
    "SphereSDF",
    "UnionSDF",
    "trimesh2sdf",
]
