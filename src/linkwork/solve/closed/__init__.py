"""Mechanisms with loops: what closes them, and configurations that are assembled."""
