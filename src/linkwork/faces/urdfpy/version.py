"""The version of the original whose names are all here."""

__version__ = "0.0.22"
