"""What inverse kinematics can be asked for: one task a file."""
