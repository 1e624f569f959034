"""The algorithms: each one a plain function of the operations, a mechanism and blocks.

A function here sees one configuration and branches on structure only: joint types, the tree, and
which entries of the constants are exactly 0, 1 or -1. `registry.py` lists those that are offered.
"""
