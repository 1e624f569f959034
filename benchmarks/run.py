"""Entry point of ``python benchmarks/run.py``: the same as ``python -m benchmarks``."""

import importlib
import sys
from pathlib import Path

# the folder of this file must not be searched: our module names are not meant to be top-level
sys.path[0] = str(Path(__file__).resolve().parent.parent)

if __name__ == "__main__":
    raise SystemExit(importlib.import_module("benchmarks.cli").main())
