"""Time one import in this fresh process: ``python import_time.py MODULE`` prints one JSON line.

NumPy is imported first, so that what is measured is what the library adds to it.
"""

import json
import sys
import time

module = sys.argv[1]
sys.path.pop(0)  # the folder of this file
import numpy  # noqa: E402, F401  (imported for its time, before the clock starts)

wall, cpu = time.perf_counter_ns(), time.process_time_ns()
__import__(module)
cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
print(json.dumps({"cpu": cpu, "wall": wall}))
