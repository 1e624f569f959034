"""Robot mechanisms: load, compute, solve."""
