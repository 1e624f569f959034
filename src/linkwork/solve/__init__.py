"""Solvers over compiled kernels: inverse kinematics."""
