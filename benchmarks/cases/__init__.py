"""What is measured: one function a case, each adds to the report."""
