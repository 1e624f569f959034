"""Which descriptions load, library by library: every URDF of a few packages."""
