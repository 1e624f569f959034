"""Store what PyKDL computes, for machines where it is not installed.

python tests/kdl_facts.py writes tests/reference/pykdl.json; it needs PyKDL (Debian's
python3-pykdl), and nothing of Linkwork.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kdl_operations import OPERATIONS, Operation, Source

FILE = Path(__file__).resolve().parent / "reference" / "pykdl.json"
CASES = 5


def source_of(operation: Operation, case: int) -> Source:
    """The arguments of one case."""
    return Source(f"facts: {operation} {case}")


def results(module: Any) -> dict[str, list[list[float]]]:
    """Of every operation the numbers of every case."""
    return {
        str(operation): [
            operation.run(module, operation.arguments(source_of(operation, k)))
            for k in range(CASES)
        ]
        for operation in OPERATIONS
    }


def main() -> None:
    pykdl = importlib.import_module("PyKDL")
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(rows, separators=(',', ':'))}"
        for name, rows in results(pykdl).items()
    )
    versions = {"PyKDL": pykdl.__version__, "Python": platform.python_version()}
    text = f'{{\n"versions": {json.dumps(versions)},\n"results": {{\n{lines}\n}}\n}}\n'
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(OPERATIONS)} operations, {CASES} cases each")


if __name__ == "__main__":
    main()
