"""Rows that shall become zero: what tasks of inverse kinematics and closures are written in."""
