"""Time one import in this fresh process: ``python import_time.py MODULE[:NAME]``, one JSON line.

With a NAME it is taken from the module too: a library that imports its parts when they are first
used has to show what they cost.

NumPy is imported first, so that what is measured is what the library adds to it.
"""

import importlib
import json
import sys
import time

module, _, name = sys.argv[1].partition(":")
sys.path.pop(0)  # the folder of this file
importlib.import_module("numpy")  # not measured

wall, cpu = time.perf_counter_ns(), time.process_time_ns()
found = importlib.import_module(module)
if name:
    getattr(found, name)
cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
print(json.dumps({"cpu": cpu, "wall": wall}))
