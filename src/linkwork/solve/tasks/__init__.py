"""Tasks of inverse kinematics."""
