"""``linkwork run``: a program as Python would run it, with faces in the place of older libraries.

The process belongs to the program from here on: its arguments, its search path and its ``__main__``
are set once and not put back, so that threads and exit handlers that outlive it find them.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import (
    BuiltinImporter,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from types import CodeType, ModuleType
from typing import Any, NoReturn

from linkwork import faces, settings
from linkwork.cli.arguments import RunArguments
from linkwork.errors import InputError

FAILED, INTERRUPTED = 1, 130
# Files whose frames stand in a traceback before the program's.
NOT_THE_PROGRAM = (__file__, importlib.util.__file__, "<frozen importlib")


class NothingToRun(InputError):
    """The program cannot be found."""


def run(arguments: RunArguments) -> NoReturn:
    """Install the faces, run the program, and leave with its exit code."""
    names = tuple(arguments.faces or faces.available())
    settings.hand_on_mesh_options(arguments.allow or (), load_meshes=arguments.load_meshes)
    faces.install(*names)
    _open_in_children(names)
    words = list(arguments.words or ())
    if arguments.module is not None:
        name = arguments.module
        raise SystemExit(_outcome(lambda: _run_module(name, words)))
    if arguments.code is not None:
        text = arguments.code
        raise SystemExit(_outcome(lambda: _run_text(text, "<string>", ["-c", *words])))
    if not words:
        raise NothingToRun("there is nothing to run: name a script, or -m MODULE, or -c CODE")
    raise SystemExit(_outcome(lambda: _run_file(words)))


# --- the four kinds of programs ------------------------------------------------------------------


def _run_text(text: str | bytes, shown_as: str, argv: list[str]) -> None:
    _begin(argv, path="")
    # Without dont_inherit the __future__ imports of this file would hold for the program.
    code = compile(text, shown_as, "exec", dont_inherit=True)
    file = shown_as if shown_as == "<stdin>" else None  # as Python calls it
    _execute(code, file, BuiltinImporter)


def _run_file(words: list[str]) -> None:
    """A script, ``-`` for standard input, or a folder or archive with a ``__main__.py``."""
    path = words[0]
    if path == "-":
        _run_text(sys.stdin.read(), "<stdin>", words)
    elif pkgutil.get_importer(path) is not None:
        place = _from_the_root(path)
        spec = PathFinder.find_spec("__main__", [place])
        if spec is None:
            raise NothingToRun(f"'{path}' has no __main__.py")
        _begin(words, path=place)
        _execute_spec(spec)
    else:
        full = _from_the_root(path)
        try:
            with io.open_code(full) as file:
                data = file.read()
        except OSError as error:
            raise NothingToRun(f"{path}: {error.strerror or error}") from None
        _begin(words, path=os.path.dirname(os.path.realpath(path)))
        if path.endswith(".pyc"):
            compiled = SourcelessFileLoader("__main__", full)
            _execute(_code_by(compiled, "__main__"), full, compiled)
        else:
            code = compile(data, full, "exec", dont_inherit=True)
            _execute(code, full, SourceFileLoader("__main__", full))


def _run_module(name: str, words: list[str]) -> None:
    _begin(["-m", *words], path=os.getcwd())
    spec = _spec_of(name)
    if spec.submodule_search_locations is not None:
        spec = _spec_of(f"{name}.__main__")
    sys.argv[0] = spec.origin or name
    _execute_spec(spec)


def _spec_of(name: str) -> ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # a package above it was found, and imports something that is missing
        spec = None
    except ValueError:  # a name with a dot in front, or of a module without a spec
        spec = None
    if spec is None:
        hint = f"; leave out the '.py': -m {name[:-3]}" if name.endswith(".py") else ""
        raise NothingToRun(f"no module named '{name}'{hint}")
    return spec


def _execute_spec(spec: ModuleSpec) -> None:
    _execute(_code_by(spec.loader, spec.name), spec.origin, spec.loader, spec)


def _code_by(loader: Any, name: str) -> CodeType:
    code = loader.get_code(name) if hasattr(loader, "get_code") else None
    if code is None:
        raise NothingToRun(f"'{name}' is no Python code that could be run")
    return code


# --- as Python does it ---------------------------------------------------------------------------


def _begin(argv: list[str], *, path: str) -> None:
    """Give the process the program's arguments and its first place to look for modules."""
    sys.argv[:] = argv
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path[:1] = [path]  # what is replaced is the place that this command was found in


def _from_the_root(path: str) -> str:
    """An absolute path as Python makes it: without a change to what was given."""
    return os.path.abspath(path) if os.name == "nt" else os.path.join(os.getcwd(), path)


def _execute(
    code: CodeType, file: str | None, loader: object, spec: ModuleSpec | None = None
) -> None:
    """Run a program as ``__main__``."""
    main = ModuleType("__main__")
    described: dict[str, object] = {
        "__file__": file,
        "__cached__": spec.cached if spec else None,
        "__loader__": loader,
        "__package__": spec.parent if spec else None,
        "__spec__": spec,
        "__builtins__": builtins,
    }
    if file is None:  # text from the command line has neither file nor byte code
        del described["__file__"], described["__cached__"]
    if sys.version_info < (3, 14):
        described["__annotations__"] = {}
    vars(main).update(described)
    sys.modules["__main__"] = main
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=sys.stdin.errors)  # commands of ours write escapes instead
    exec(code, vars(main))


def _outcome(program: Callable[[], None]) -> int:
    """Run to the end, however it ends, and give the exit code."""
    try:
        program()
    except NothingToRun:
        raise
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            sys.stderr.write(f"{end.code}\n")
            return FAILED
        return end.code or 0
    except BaseException as error:
        # the traceback from the program's own first line on, by its own hook if it has set one
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(NOT_THE_PROGRAM):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
    return 0


# --- processes that the program starts -----------------------------------------------------------


class _Opened:
    """Installs faces in the process that unpickles it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str, ...]]:
        return faces.install, self._names


def _open_in_children(names: tuple[str, ...]) -> None:
    """Send the faces along with what multiprocessing tells a new process.

    A process that is spawned imports the program again, before anything of ours could run there;
    what is unpickled first is this preparation.
    """
    from multiprocessing import spawn  # noqa: PLC0415 - needs sockets, 10 ms

    prepare = spawn.get_preparation_data

    def with_faces(name: str) -> dict[str, object]:
        return {**prepare(name), "linkwork_faces": _Opened(names)}

    spawn.get_preparation_data = with_faces
