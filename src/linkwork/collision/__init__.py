"""Collision: shapes and pairs of a robot, distances, checks against scenes."""
