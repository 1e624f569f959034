"""Descriptions as records: one folder for each format. No kinematics, and no mesh is opened."""
