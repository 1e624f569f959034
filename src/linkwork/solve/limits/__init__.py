"""What no answer of inverse kinematics may leave: one limit a file."""
