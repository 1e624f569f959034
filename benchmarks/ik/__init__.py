"""Inverse kinematics by its own protocol: many chains, many kinds of targets, an outside judge."""
