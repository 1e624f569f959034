"""Rotations, poses, twists and inertias, written once in the operations of `linkwork.ops`.

Each function takes the back end ``o`` first and blocks after it: rotation matrices (3, 3),
quaternions (4,) ``wxyz``, rotation vectors (3,), twists and wrenches (6,), linear part first.
Import the module that is needed: ``from linkwork.spatial import rotations, so3``.
"""
