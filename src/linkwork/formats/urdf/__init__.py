"""URDF: one table of the format (`schema`), the records it fills (`records`), reading (`read`)."""
