"""JavaScript run under Node: data in, values out, numbers exact in both directions."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

_START = """
const read = (text) => JSON.parse(text, (key, value) =>
  value !== null && typeof value === "object" && "number" in value ? Number(value.number)
  : value);
const plain = (value) => ArrayBuffer.isView(value) ? Array.from(value, plain)
  : Array.isArray(value) ? value.map(plain)
  : typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
    ? {number: Object.is(value, -0) ? "-0" : String(value)}
  : value !== null && typeof value === "object"
    ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)])) : value;
(async (given) => {
"""
_END = """
})(read(TEXT)).then((result) => process.stdout.write(JSON.stringify(plain(result) ?? null)),
  (error) => { console.error(error); process.exit(1); });
"""


def needs_node() -> str:
    """The path of Node; a test is skipped where there is none."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


def run_js(body: str, data: Any = None, *, timeout: float = 120.0) -> Any:
    """What ``body`` returns, a function body with ``given``, the data, in scope.

    Arrays and numbers of NumPy become lists and numbers; NaN, infinities and -0 pass as they are.
    It may ``await import(...)`` modules.
    """
    end = _END.replace("TEXT", json.dumps(json.dumps(_plain(data))))
    text = f"{_START}{body}{end}"
    done = subprocess.run(
        [needs_node(), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return _numbers(json.loads(done.stdout))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": {np.inf: "Infinity", -np.inf: "-Infinity"}.get(value, "NaN")}
    return value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return float(value["number"].replace("Infinity", "inf"))
        return {key: _numbers(each) for key, each in value.items()}
    return [_numbers(each) for each in value] if isinstance(value, list) else value
