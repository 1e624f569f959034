"""tools/run_snippets.py on small made-up pages: it runs what it says, and it can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "run_snippets.py"


def fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```\n"


def run(folder: Path, text: str, name: str = "page.md") -> subprocess.CompletedProcess[str]:
    page = folder / name
    page.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(TOOL), str(page)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_blocks_of_a_page_share_a_namespace_and_an_empty_folder(tmp_path: Path):
    first = fenced("python", "import pathlib\nx = 3\npathlib.Path('made.txt').write_text('a')")
    second = fenced("python", "print(x + 1)  # 4\nprint(sorted(pathlib.Path('.').iterdir()))")
    done = run(tmp_path, f"# Title\n\n{first}\ntext\n\n{second}")
    assert done.returncode == 0, done.stdout
    assert "(2 blocks)" in done.stdout
    assert "1 files run, 0 failed" in done.stdout
    # What a page writes stays out of the folder that the page lies in.
    assert [p.name for p in tmp_path.iterdir()] == ["page.md"]


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError"),
        ("print(1 + 1)  # 3", "the page says it prints"),
        ("print('a b c')  # a ... d", "the page says it prints"),
        ("def broken(:", "SyntaxError"),
        ("import sys\nsys.exit(3)", ""),
    ],
)
def test_a_python_block_that_fails(tmp_path: Path, code: str, seen: str):
    done = run(tmp_path, "one\n\n" + fenced("python", code))
    assert done.returncode == 1
    assert seen in done.stdout
    assert "1 failed" in done.stdout


def test_a_traceback_names_the_line_of_the_page(tmp_path: Path):
    done = run(tmp_path, "one\n\ntwo\n\n" + fenced("python", "a = 1\nb = missing"))
    assert 'page.md", line 7' in done.stdout
    assert "b = missing" in done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "print(1 + 1)  # 2",
        "print('a b c')  # a ... c",
        "import numpy as np\nprint(np.eye(2))  # [[1. 0.] [0. 1.]]",
        "print('é', 1)  # é 1",
        "for k in range(2):\n    print(k)  # a comment, no promise: it is not at the top level",
        "print('#')",
    ],
)
def test_what_a_print_promises(tmp_path: Path, code: str):
    done = run(tmp_path, fenced("python", code))
    assert done.returncode == 0, done.stdout


def test_a_block_left_out_is_listed_with_its_reason(tmp_path: Path):
    left_out = "<!-- no-run: needs a robot -->\n\n" + fenced("python", "1 / 0")
    done = run(tmp_path, left_out + fenced("python", "x = 1"))
    assert done.returncode == 0, done.stdout
    assert "page.md:4: needs a robot" in done.stdout
    assert "(1 blocks)" in done.stdout


def test_a_comment_marks_the_next_block_only(tmp_path: Path):
    far = "<!-- no-run: far away -->\n\nSome text.\n\n" + fenced("python", "1 / 0")
    assert run(tmp_path, far).returncode == 1
    after = "<!-- no-run: this one -->\n" + fenced("python", "1 / 0") + fenced("python", "1 / 0")
    assert run(tmp_path, after).returncode == 1


def test_only_linkwork_runs_in_a_console_block(tmp_path: Path):
    done = run(tmp_path, fenced("console", "$ echo hello"))
    assert done.returncode == 1
    assert "only 'linkwork ...'" in done.stdout


def test_a_console_block_checks_exit_code_and_output(tmp_path: Path):
    # A stand-in for the command, found beside the interpreter as the real one is.
    made = tmp_path / "environment"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "python").symlink_to(sys.executable)
    command = made / "bin" / "linkwork"
    command.write_text('#!/bin/sh\necho "args: $*"\n[ "$1" != bad ]\n')
    command.chmod(0o755)

    def outcome(text: str) -> subprocess.CompletedProcess[str]:
        code = (
            f"import sys; sys.path.insert(0, {str(TOOL.parent)!r}); "
            f"sys.executable = {str(made / 'bin' / 'python')!r}; "
            "import pathlib, run_snippets; sys.exit(run_snippets.one(pathlib.Path(sys.argv[1])))"
        )
        page = tmp_path / "page.md"
        page.write_text(text)
        line = [sys.executable, "-c", code, str(page)]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)

    good = outcome(fenced("console", "$ linkwork info \\\n>   ur5e\nargs: info ...\n$ linkwork x"))
    assert good.returncode == 0, good.stdout + good.stderr
    assert "args: info ur5e" in good.stdout
    assert outcome(fenced("console", "$ linkwork bad")).returncode == 1
    assert outcome("<!-- exit: 1 -->\n" + fenced("console", "$ linkwork bad")).returncode == 0
    assert outcome("<!-- exit: 1 -->\n" + fenced("console", "$ linkwork fine")).returncode == 1
    assert outcome(fenced("console", "$ linkwork x\nother text")).returncode == 1
    assert outcome(fenced("console", "linkwork x")).returncode == 1


def test_a_shell_block_says_what_becomes_of_it(tmp_path: Path):
    assert run(tmp_path, fenced("bash", "false")).returncode == 1
    page = "<!-- ci: test -->\n" + fenced("bash", "false") + fenced("python", "x = 1")
    assert run(tmp_path, page).returncode == 0


def test_a_script_runs_whole(tmp_path: Path):
    assert run(tmp_path, "import os\nassert not os.listdir()\n", "a.py").returncode == 0
    assert run(tmp_path, "raise SystemExit(2)\n", "a.py").returncode == 1


def test_running_nothing_is_a_failure(tmp_path: Path):
    assert run(tmp_path, "only text").returncode == 1


def test_a_fence_that_is_not_closed(tmp_path: Path):
    done = run(tmp_path, "```python\nx = 1\n")
    assert done.returncode == 1
    assert "never closed" in done.stdout + done.stderr


def test_a_longer_fence_holds_a_shorter_one(tmp_path: Path):
    inner = "````text\n" + fenced("python", "1 / 0") + "````\n"
    assert run(tmp_path, inner + fenced("python", "x = 1")).returncode == 0
