"""Shapes and meshes: found, loaded when they are first needed, weighed."""
