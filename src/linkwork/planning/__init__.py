"""Paths from here to there that touch nothing."""
