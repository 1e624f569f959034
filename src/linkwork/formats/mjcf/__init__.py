"""MJCF, the format of MuJoCo: its kinematic and inertial part, as MuJoCo itself understands it."""
