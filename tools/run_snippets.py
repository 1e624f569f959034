"""Run what the documentation prints: every Python and console block, and every example.

    python tools/run_snippets.py README.md docs examples

- ```` ```python ```` blocks of one file share one process and one namespace, in their order, in an
  empty folder. A comment behind a top-level ``print(...)`` is what it must print.
- ```` ```console ````: each line ``$ linkwork ...`` is run; it must exit with 0, or with n under
  ``<!-- exit: n -->``. Lines below it, where there are any, are what it must print.
- In both, ``...`` stands for any text, and the amount of white space does not count.
- ``<!-- no-run: reason -->`` above a block leaves it out, and the summary lists it. A shell block
  must say so too, or be one that CI runs (``<!-- ci: name -->``).
- ``<!-- extra: torch -->`` above a block leaves it out where that module is not installed, and the
  summary lists it.
- ``*.py`` files, the examples, are run as scripts, each in an empty folder.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from markdown_blocks import Block, blocks_of

SECONDS_A_FILE = 300
RUNS = ("python", "console")
SHELLS = ("bash", "sh", "shell")


class SnippetError(Exception):
    """A block that does not do what the page says."""


# --- one file, in a process of its own -----------------------------------------------------------


def run_file(path: Path) -> None:
    """Run the blocks of one Markdown file in order; raises at the first that fails."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(path):
        if is_left_out(block):
            continue
        if block.language == "python":
            _run_python(block, namespace)
        elif block.language == "console":
            _run_console(block)
        elif block.language in SHELLS:
            raise SnippetError(
                f"{block.place}: a {block.language} block is not run; use console with "
                "'$ linkwork ...', or say <!-- no-run: reason -->"
            )


def is_left_out(block: Block) -> bool:
    """Whether a block is not run here."""
    return "no-run" in block.marks or "ci" in block.marks or lacks_extra(block)


def lacks_extra(block: Block) -> bool:
    """Whether the module that a block needs is not installed."""
    return "extra" in block.marks and find_spec(block.marks["extra"]) is None


def _run_python(block: Block, namespace: dict[str, Any]) -> None:
    # Line feeds in front keep the line numbers of the page in every traceback.
    tree = ast.parse("\n" * (block.line - 1) + block.code, str(block.path))
    for statement in tree.body:
        code = compile(ast.Module([statement], []), str(block.path), "exec")
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, namespace)
        finally:
            print(printed.getvalue(), end="")
        promised = _promised(block, statement)
        if promised is not None:
            _compare(f"{block.path}:{statement.lineno}", promised, printed.getvalue())


def _promised(block: Block, statement: ast.stmt) -> str | None:
    """The comment behind a print statement."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return None
    if not (isinstance(statement.value.func, ast.Name) and statement.value.func.id == "print"):
        return None
    last = block.code.splitlines()[(statement.end_lineno or 0) - block.line]
    behind = last.encode()[statement.end_col_offset :].decode().strip()
    return behind.lstrip("#").strip() if behind.startswith("#") else None


def _commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """The commands of a console block: line, command, and what it is said to print."""
    command, said, start = "", [], 0
    for number, line in enumerate(block.code.splitlines(), block.line):
        if line.startswith("$ "):
            if command:
                yield start, command, "\n".join(said)
            command, said, start = line[2:], [], number
        elif command.endswith("\\"):
            command = command[:-1] + line.lstrip("> ")
        else:
            said.append(line)
    if not command:
        raise SnippetError(f"{block.place}: a console block without a '$ ' line")
    yield start, command, "\n".join(said)


def _run_console(block: Block) -> None:
    wanted = int(block.marks.get("exit", "0"))
    # The command of this very environment, whatever else is on the path.
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": here, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
    for line, command, said in _commands(block):
        place = f"{block.path}:{line}"
        if command.split()[0] != "linkwork":
            raise SnippetError(f"{place}: only 'linkwork ...' is run in a console block: {command}")
        done = subprocess.run(
            command, shell=True, env=environment, capture_output=True, text=True, check=False
        )
        print(done.stdout, end="")
        if done.returncode != wanted:
            raise SnippetError(
                f"{place}: '{command}' exited with {done.returncode}, not {wanted}\n{done.stderr}"
            )
        if said.strip():
            _compare(place, said, done.stdout + done.stderr)


def _compare(place: str, promised: str, printed: str) -> None:
    wanted, got = " ".join(promised.split()), " ".join(printed.split())
    pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
    if not re.fullmatch(pattern, got, re.DOTALL):
        raise SnippetError(f"{place}: the page says it prints\n  {wanted}\nbut it prints\n  {got}")


# --- all files -----------------------------------------------------------------------------------


def gather(paths: Iterable[Path]) -> list[Path]:
    """The Markdown files and scripts among files and folders, each once, in a fixed order.

    Raises: FileNotFoundError for a path that does not exist.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted([*path.rglob("*.md"), *path.rglob("*.py")])
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            raise FileNotFoundError(f"there is no {path}")
    return list(found)


def run_one(path: Path) -> tuple[bool, float, str]:
    """Run one file in a new process and an empty folder: whether it passed, seconds, its output."""
    start = time.perf_counter()
    script = [str(path.resolve())]
    if path.suffix == ".md":
        script = [str(Path(__file__).resolve()), "--one", *script]
    with tempfile.TemporaryDirectory(prefix="snippets-") as folder:
        try:
            done = subprocess.run(
                [sys.executable, *script],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=SECONDS_A_FILE,
                check=False,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return False, float(SECONDS_A_FILE), f"stopped after {SECONDS_A_FILE} s"
    return done.returncode == 0, time.perf_counter() - start, done.stdout


def main(arguments: list[str]) -> int:
    """Run everything, a file on each core, print one line a file, what is left out, a summary."""
    files: dict[Path, str] = {}
    left_out = []
    for path in gather(Path(argument) for argument in arguments):
        if path.suffix == ".md":
            blocks = [block for block in blocks_of(path) if block.language in (*RUNS, *SHELLS)]
            kept = [b for b in blocks if not is_left_out(b)]
            left_out += [f"{b.place}: {b.marks['no-run']}" for b in blocks if "no-run" in b.marks]
            missing = [b for b in blocks if lacks_extra(b)]
            left_out += [f"{b.place}: needs the extra {b.marks['extra']}" for b in missing]
            if not kept:
                continue
            files[path] = f"{len(kept)} blocks"
        else:
            files[path] = "script"
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, what), (passed, seconds, output) in zip(
            files.items(), pool.map(run_one, files), strict=True
        ):
            print(
                f"{'ok    ' if passed else 'FAILED'} {seconds:6.1f} s  {path} ({what})", flush=True
            )
            if not passed:
                failed += 1
                print(output, flush=True)
    for line in left_out:
        print(f"not run: {line}")
    print(f"snippets and examples: {len(files)} files run, {failed} failed")
    return 1 if failed or not files else 0


def one(path: Path) -> int:
    """The work of the process that belongs to one Markdown file."""
    try:
        run_file(path)
    except SnippetError as error:
        print(error)
        return 1
    except Exception:  # whatever a snippet raises is shown as its reader would see it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="*", help="Markdown files, scripts, or folders of them")
    options = parser.parse_args()
    sys.exit(one(options.one) if options.one else main(options.paths))
