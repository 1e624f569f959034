"""What touches what, and how near."""
