"""The process that expands one xacro file: started by `xacro.expand`, talks JSON lines with it.

A process of its own, because xacro files are programs: it can be stopped when it takes too long,
its memory is bounded, and what the `xacro` package changes in the modules that it imports
(``xml.dom.minidom`` among them) ends with it. It opens files inside the folders that it was given
and no others, and an audit hook ends what starts programs, writes files or uses the net.

The package works on ``xml.dom.minidom``, which forgets lines. Here a document is built whose
elements have a ``place``, file and line; copies keep it, and the text that is written at last knows
it for each of its lines. Errors and warnings find theirs in the functions of the package that run.

First line in: the job. Lines out: ``{"find": name}``, answered by ``{"folder": ...}`` or
``{"error": ...}``, and at last ``{"text": ...}`` or ``{"problem": ...}``.
"""

from __future__ import annotations

import ast
import contextlib
import glob
import inspect
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import CodeType, SimpleNamespace
from typing import Any, NoReturn
from xml.dom import expatbuilder, minidom
from xml.parsers import expat

# the expressions of a file, evaluated so that they reach values and nothing else
#
# Names that begin with two underscores are not the only way out of ``eval``: a generator's frame,
# ``type``, ``vars`` or ``'{0.x}'.format`` lead to modules too. So an expression is parsed, only the
# parts of the language listed here are let through, and every attribute is looked up by
# `attribute`, which knows the values of xacro and their methods.

LONGEST = 100_000
"""The longest expression, in characters."""

_LARGEST_INTEGER = 1 << 16  # bits
_LARGEST_SEQUENCE = 1 << 24  # items

# Names of the helpers in the code that runs. No expression can spell them: they hold a space.
_GET, _POWER, _TIMES, _SHIFT = "get attribute", "power of", "times that", "shift left"

_CHECKED: dict[type[ast.operator], str] = {
    ast.Pow: _POWER,
    ast.Mult: _TIMES,
    ast.LShift: _SHIFT,
}

_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Subscript, ast.Slice),
    *(ast.Call, ast.keyword, ast.Starred, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.List, ast.Tuple, ast.Dict),
    *(ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.Store, ast.Lambda, ast.arguments, ast.arg, ast.JoinedStr, ast.FormattedValue),
)
"""The parts of Python that an expression has; `ast.Store` is the variable of a comprehension."""


def _public(kind: type, *, without: Sequence[str] = ()) -> frozenset[str]:
    return frozenset(n for n in dir(kind) if not n.startswith("_") and n not in without)


_METHODS: dict[type, frozenset[str]] = {
    # a field of format() may name attributes; an expression of xacro cannot write one anyhow
    str: _public(str, without=("format", "format_map")),
    **{
        kind: _public(kind)
        for kind in (bytes, int, float, complex, bool, list, tuple, dict, set, frozenset)
    },
    **{kind: _public(kind) for kind in (range, slice, type(None))},
}


class RefusedError(Exception):
    """Something that the file must not do, with a code for the problem and a hint."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class RefusedExpressionError(Exception):
    """An expression that uses what no expression of a xacro file needs."""


# what an expression is turned into


class _Guarded(ast.NodeTransformer):
    """Refuses what is not listed; attributes and operations that can grow become calls."""

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _ALLOWED):
            raise RefusedExpressionError(f"{type(node).__name__} has no place in an expression")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _named(node, node.id)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return _named(node, node.arg)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        _named(node, node.attr)
        name = ast.Constant(node.attr)
        return _call(_GET, node, self.visit(node.value), name)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = self.visit(node.left), self.visit(node.right)
        helper = _CHECKED.get(type(node.op))
        if helper is not None:
            return _call(helper, node, left, right)
        return ast.copy_location(ast.BinOp(left, node.op, right), node)


def _named(node: ast.AST, name: str) -> ast.AST:
    if name.startswith("__"):
        raise RefusedExpressionError(f"'{name}' begins with two underscores")
    return node


def _call(helper: str, node: ast.AST, *values: Any) -> ast.AST:
    call = ast.Call(ast.Name(helper, ast.Load()), list(values), [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def guarded(expression: str) -> CodeType:
    """The code of an expression, with every attribute looked up by `attribute`.

    Raises: RefusedExpressionError for what is not let through; SyntaxError as Python does.
    """
    if len(expression) > LONGEST:
        raise RefusedExpressionError(f"it is longer than {LONGEST:,} characters")
    tree = _Guarded().visit(ast.parse(expression.strip(), "<expression>", "eval"))
    return compile(ast.fix_missing_locations(tree), "<expression>", "eval")


def evaluate(expression: str, names: dict[str, Any], local: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression, with ``names`` (and ``local``) as all that it can name.

    Raises: RefusedExpressionError, SyntaxError, and whatever the evaluation raises.
    """
    code = guarded(expression)
    names.update(__builtins__=dict(_HELPERS))
    return eval(code, names, local)  # what the code can reach is what `guarded` let through


# what the code calls


def attribute(value: Any, name: str) -> Any:
    """The value of ``value.name``, for the values that xacro has: name spaces, YAML, plain data.

    Raises: RefusedExpressionError for everything else.
    """
    if name.startswith("__"):
        raise RefusedExpressionError(f"'{name}' begins with two underscores")
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    if isinstance(value, dict) and type(value) is not dict:  # a name space, or YAML's
        return _entry(value, name)
    if kind is not None and name in _METHODS[kind]:
        return getattr(value, name)
    if isinstance(value, type) and name in _METHODS.get(value, ()):
        return getattr(value, name)
    shown = value.__name__ if isinstance(value, type) else type(value).__name__
    raise RefusedExpressionError(f"'{name}' of a {shown} is not reached from an expression")


def _entry(table: dict[Any, Any], name: str) -> Any:
    """An entry of a name space, or of a YAML file's dictionary, which has methods too."""
    is_yaml = "parent" not in vars(table)
    if is_yaml and name in _METHODS[dict]:
        return getattr(table, name)
    try:
        return table[name]
    except (KeyError, AttributeError):
        raise NameError(f"name '{name}' is not defined") from None


def _times(left: Any, right: Any) -> Any:
    for sized, count in ((left, right), (right, left)):
        if isinstance(sized, str | bytes | list | tuple) and isinstance(count, int):
            if len(sized) * count > _LARGEST_SEQUENCE:
                raise RefusedExpressionError("the sequence that it makes is too long")
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() * right > _LARGEST_INTEGER:
            raise RefusedExpressionError("the power that it computes is too large")
    return left**right


def _shift(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right > _LARGEST_INTEGER:
            raise RefusedExpressionError("the number that it computes is too large")
    return left << right


_HELPERS: dict[str, Callable[..., Any]] = {
    _GET: attribute,
    _POWER: _power,
    _TIMES: _times,
    _SHIFT: _shift,
}


def kind_of(value: Any) -> type:
    """``type(value)`` with one value: the type of plain data.

    Raises: RefusedExpressionError for values of other types.
    """
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    if kind is None:
        raise RefusedExpressionError("only the type of plain data is told")
    return kind


# talking with the process that started this one


class Line:
    """The two pipes, one JSON value a line."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")

    def receive(self) -> Any:
        """The next value; the process ends with its starter."""
        line = self._in.readline()
        if not line:
            raise SystemExit(1)
        return json.loads(line)

    def send(self, value: Any) -> None:
        """Write one value."""
        self._out.write(json.dumps(value).encode() + b"\n")
        self._out.flush()


# what may be opened


class Files:
    """The files that the expansion reads: inside the folders, regular, and not too large."""

    def __init__(self, roots: list[str], largest: int) -> None:
        self.roots = list(dict.fromkeys([*roots, *map(os.path.realpath, roots)]))
        self.largest = largest
        self.opened: list[str] = []

    def inside(self, path: str) -> bool:
        """Whether a path, as it is written, lies in one of the folders."""
        whole = os.path.abspath(path)
        return any(whole == root or whole.startswith(_slashed(root)) for root in self.roots)

    def read(self, path: Any, *_: Any) -> io.BytesIO:
        """The bytes of a file. Whether a file outside exists is nobody's business."""
        if not isinstance(path, str) or "\0" in path:
            raise RefusedError("xacro-file", f"{path!r} is no file's name")
        if not self.inside(path) or not self.inside(os.path.realpath(path)):
            hint = "allow the folder that it lies in"
            message = f"'{path}' lies outside the folders that may be read"
            raise RefusedError("xacro-file", message, hint)
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError("xacro-file", f"'{path}' is no regular file")
        if status.st_size > self.largest:
            message = f"'{path}' has {status.st_size:,} bytes; at most {self.largest:,} are read"
            raise RefusedError("xacro-file", message)
        with open(path, "rb") as stream:
            data = stream.read(self.largest + 1)
        if len(data) > self.largest:
            raise RefusedError("xacro-file", f"'{path}' grows while it is read")
        if path not in self.opened:
            self.opened.append(path)
        return io.BytesIO(data)

    def glob(self, pattern: str) -> list[str]:
        """The files that a pattern of an include matches, inside the folders."""
        if not self.inside(pattern):
            raise RefusedError("xacro-file", f"'{pattern}' lies outside the folders", "allow them")
        return sorted(path for path in glob.glob(pattern) if self.inside(path))


def _slashed(folder: str) -> str:
    return folder if folder.endswith(os.sep) else folder + os.sep


# where elements come from

DEEPEST = 256
"""The most elements inside each other in a file that is read."""


class Builder(expatbuilder.ExpatBuilderNS):
    """A document whose elements have a ``place``: file and line."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.file_name, self.depth = name, 0

    def install(self, parser: Any) -> None:
        """Watch for document types as well."""
        super().install(parser)
        parser.StartDoctypeDeclHandler = self.refuse_doctype

    def refuse_doctype(self, *_: Any) -> NoReturn:
        """A document type can define entities: none is read."""
        line = self.getParser().CurrentLineNumber
        raise _at(RefusedError("doctype", "a document type is not read"), (self.file_name, line))

    def start_element_handler(self, name: str, attributes: Any) -> None:
        """Begin an element."""
        super().start_element_handler(name, attributes)
        line = self.getParser().CurrentLineNumber
        vars(self.curNode)["place"] = (self.file_name, line)
        self.depth += 1
        if self.depth > DEEPEST:
            error = RefusedError(
                "too-deep", f"elements stand more than {DEEPEST} deep in each other"
            )
            raise _at(error, (self.file_name, line))

    def end_element_handler(self, name: str) -> None:
        """End an element."""
        super().end_element_handler(name)
        self.depth -= 1


def _at(error: Exception, place: tuple[str, int]) -> Exception:
    vars(error)["place"] = place
    return error


def keep_places() -> None:
    """Copies of a node (a macro's body, a block) have the place of what they are copied from."""
    module: Any = minidom
    clone: Callable[..., Any] = module._clone_node

    def placed(node: Any, deep: Any, owner: Any) -> Any:
        made = clone(node, deep, owner)
        if made is not None and hasattr(node, "place"):
            made.place = node.place
        return made

    module._clone_node = placed


class Written(io.StringIO):
    """The text, and for each of its lines the place of the last element that begins in it."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.places: list[tuple[str, int] | None] = [None]
        self.left = largest

    def write(self, text: str) -> int:
        """Append a piece."""
        self.left -= len(text)
        if self.left < 0:
            raise RefusedError("xacro-size", "the URDF that it expands to is too large")
        self.places.extend([None] * text.count("\n"))
        return super().write(text)


def written(document: Any, largest: int) -> Written:
    """A document as text, at most ``largest`` characters. Changes how elements are written."""
    out = Written(largest)
    element: Any = minidom.Element
    write = element.writexml

    def marked(node: Any, writer: Any, *layout: Any) -> None:
        out.places[-1] = getattr(node, "place", None)
        write(node, writer, *layout)

    element.writexml = marked
    document.writexml(out, "", "  ", "\n")
    return out


def place_of(error: BaseException, files: Sequence[str | None]) -> tuple[str, int]:
    """The place of the element that was being expanded: the innermost one of the traceback."""
    found: tuple[str, int] = ((files[-1] if files else None) or "", 0)
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        trace = current.__traceback__
        while trace is not None:
            if trace.tb_frame.f_globals.get("__name__") == "xacro":
                found = _place_in(trace.tb_frame.f_locals) or found
            trace = trace.tb_next
        current = None if found[1] else current.__context__
    return found


def _place_in(names: Mapping[str, Any]) -> tuple[str, int] | None:
    """The place of the element that a function of the package works on."""
    for name in ("node", "elt"):
        node = names.get(name)
        while node is not None and not hasattr(node, "place"):
            node = getattr(node, "parentNode", None)
        if node is not None:
            return node.place
    return None


class Warnings:
    """Warnings of the package, each with the place of the element that it is about."""

    def __init__(self) -> None:
        self.found: list[tuple[str, tuple[str, int] | None]] = []

    def __call__(self, *words: object, **_: object) -> None:
        """Note a warning, as `xacro.warning` is called."""
        place, frame = None, inspect.currentframe()
        while frame is not None and place is None:
            if frame.f_globals.get("__name__") == "xacro":
                place = _place_in(frame.f_locals)
            frame = frame.f_back
        said = (" ".join(map(str, words))[:1000], place)
        if said not in self.found and len(self.found) < 1000:
            self.found.append(said)


# the package, with its ways to the system replaced


class Arguments(dict[str, str]):
    """The arguments of the file, which know which of them were asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.given, self.asked = dict(given), set[str]()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)


def _replace_files(xacro: Any, files: Files) -> None:
    """Every file that the package opens or looks for goes through ``files``."""

    def parse(_: Any, filename: str) -> Any:
        try:
            stream = files.read(os.path.join(xacro.root_dir, filename))
        except OSError as error:
            # as the package does: the file is not yet one that others are included from
            xacro.filestack.pop()
            raise xacro.XacroException(f"{error.strerror}: {filename}", exc=error) from None
        return Builder(filename).parseFile(stream)

    def opened(path: Any, *_: Any) -> io.TextIOWrapper:
        return io.TextIOWrapper(files.read(path), encoding="utf-8-sig")

    xacro.open = opened
    xacro.glob = SimpleNamespace(glob=files.glob)
    xacro.parse = parse


class Extensions:
    """The values of ``$(find ...)``, ``$(env ...)``, ``$(dirname)`` and ``$(eval ...)``."""

    def __init__(
        self, xacro: Any, files: Files, line: Line, environment: Mapping[str, str]
    ) -> None:
        self.xacro, self.files, self.line, self.environment = xacro, files, line, environment

    def find(self, package: str) -> str:
        """The folder of a package, as the starter knows it. Files may be read there from now on."""
        self.line.send({"find": package})
        answer = self.line.receive()
        if "error" in answer:
            raise RefusedError("xacro-package", answer["error"])
        if answer["note"]:
            self.xacro.warning(answer["note"])
        self.files.roots += [answer["folder"], os.path.realpath(answer["folder"])]
        return str(answer["folder"])

    def env(self, name: str) -> str:
        """A variable that was given; none of this process."""
        if name not in self.environment:
            hint = f"give it a value: environment={{'{name}': ...}}, or --env {name}=..."
            message = f"the variable '{name}' of the environment is asked for"
            raise RefusedError("xacro-environment", message, hint)
        return self.environment[name]

    def optenv(self, name: str, default: str = "") -> str:
        """A variable that was given, or the default."""
        return self.environment.get(name, default)

    def dirname(self, _: object = None) -> str:
        """The folder of the file that is being read."""
        return os.path.dirname(os.path.abspath(self.xacro.filestack[-1]))

    def evaluate(self, text: str, context: Mapping[str, Any]) -> str:
        """The value of ``$(eval text)``: arguments, functions of math, and those above."""
        converted: Callable[[str, str], Any] = self.xacro.substitution_args.convert_value
        arguments = context["arg"]
        names: dict[str, Any] = {f.__name__: f for f in (list, dict, map, str, float, int)}
        names |= dict(self.xacro._global_symbols["math"])
        names |= {name: converted(value, "auto") for name, value in arguments.items()}
        names |= {"true": True, "false": False, "find": self.find, "env": self.env}
        names |= {"optenv": self.optenv, "dirname": self.dirname}
        names["arg"] = lambda name: converted(arguments[name], "auto")
        return str(evaluate(text, names))


_ENDED = (
    *("os." + name for name in ("exec", "fork", "kill", "link", "mkdir", "posix_spawn", "putenv")),
    *("os." + name for name in ("remove", "rename", "rmdir", "setxattr", "spawn", "startfile")),
    *("os." + name for name in ("symlink", "system", "truncate", "unsetenv", "utime", "ch")),
    *("subprocess.", "socket.", "ctypes.", "shutil.", "pty.", "winreg.", "webbrowser.", "mmap."),
    *("signal.", "code.", "pickle.", "urllib.", "sys.addaudithook"),
)
"""Events of Python (PEP 578) that no expansion has a reason for, by how their names begin."""


def _lock(files: Files) -> None:
    """From here on, end whatever starts programs, writes, connects, or reads other files."""
    own = tuple(_slashed(os.path.realpath(path)) for path in sys.path if path)

    def watch(event: str, values: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = (*values, None, None, None)[:3]
            writes = isinstance(mode, str) and set(mode) & set("wax+")
            if writes or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                raise RefusedError("xacro-forbidden", "a file is opened for writing")
        elif event in ("os.listdir", "os.scandir"):
            path = values[0] or "."
        else:
            if event.startswith(_ENDED):
                message = f"it tries to do what no description needs: {event}"
                raise RefusedError("xacro-forbidden", message)
            return
        if isinstance(path, str | bytes):
            name = os.fsdecode(path)
            if not files.inside(name) and not os.path.realpath(name).startswith(own):
                raise RefusedError("xacro-forbidden", f"it reads outside its folders: '{name}'")

    sys.addaudithook(watch)


def _bound(seconds: int, memory: int) -> None:
    """Limits that the system holds, where it has them."""
    try:
        resource = import_module("resource")
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# one job


def problem_of(error: BaseException, xacro: Any) -> dict[str, Any]:
    """The fault that an error tells of: its code, message, hint and place, and its macros."""
    cause: Any = error
    while not isinstance(cause, RefusedError) and getattr(cause, "exc", None) is not None:
        cause = cause.exc
    code, message, hint = told_of(error, cause)
    place = getattr(cause, "place", None) or place_of(error, xacro.filestack)
    if isinstance(cause, expat.ExpatError):
        place = (xacro.filestack[-1], cause.lineno)
    said = "; ".join(line.strip() for line in message.splitlines() if line.strip())
    macros = [macro.body.getAttribute("name") for macro in reversed(xacro.macrostack or [])]
    if macros:
        said += ", in macro " + ", called by ".join(f"'{name}'" for name in macros[:8])
    return {"code": code, "message": said[:2000], "hint": hint, "place": place}


def told_of(error: BaseException, cause: Any) -> tuple[str, str, str]:
    """Code, message and hint of an error, by what caused it."""
    code, message, hint = "xacro", str(error) or type(error).__name__, ""
    if isinstance(cause, RefusedError):
        code, message, hint = cause.code, str(cause), cause.hint
    elif isinstance(cause, RefusedExpressionError):
        code, message = "xacro-expression", f"refused: {error}"
    elif isinstance(cause, RecursionError):
        code, message = "xacro-recursion", "macros, includes or properties go too deep"
        hint = "one of them may use itself"
    elif isinstance(cause, MemoryError):
        code, message = "xacro-memory", "the expansion takes more memory than it may"
    elif isinstance(cause, OSError):
        code, message = "xacro-file", f"{cause.strerror or cause}: '{cause.filename}'"
    elif isinstance(cause, expat.ExpatError):
        code, message = "xml", expat.ErrorString(cause.code) or str(cause)
    elif type(cause).__name__ == "ArgException":
        name = str(cause).strip("'")
        code, message = "xacro-argument", f"the argument '{name}' has no value"
        hint = f"give one: arguments={{'{name}': ...}}, or --arg {name}:=..."
    return code, message, hint


def main() -> None:
    """Do the one job that comes in."""
    line = Line()
    job = line.receive()
    sys.path[:] = job["modules"]
    try:
        xacro: Any = import_module("xacro")
        import_module("xacro.substitution_args")
    except ImportError as error:
        line.send({"missing": str(error)})
        return
    unheard, xacro.warning = io.StringIO(), Warnings()
    with contextlib.redirect_stdout(unheard), contextlib.redirect_stderr(unheard):
        result = _run(xacro, job, line)
    line.send({**result, "warnings": xacro.warning.found})


def _run(xacro: Any, job: Mapping[str, Any], line: Line) -> dict[str, Any]:
    files = Files(job["roots"], job["largest"])
    keep_places()
    try:
        _replace_files(xacro, files)
        # every expression is evaluated by `evaluate`, every extension by `Extensions`
        extensions = Extensions(xacro, files, line, job["environment"])
        module = xacro.substitution_args
        module._eval_find, module._eval_env = extensions.find, extensions.env
        module._eval_optenv, module._eval_dirname = extensions.optenv, extensions.dirname
        module._eval, xacro.safe_eval = extensions.evaluate, evaluate
        names = xacro._global_symbols["python"]
        names.pop("vars", None)
        names.update(type=kind_of)
        sys.setrecursionlimit(2000)
        _bound(job["seconds"], job["memory"])
        _lock(files)
        path, arguments = job["path"], Arguments(job["arguments"])
        xacro.root_dir = os.path.dirname(path)
        xacro.init_stacks(path)
        document = xacro.parse(None, path)
        xacro.process_doc(document, mappings=arguments, verbosity=0)
        text = written(document, job["largest"])
        return {
            "text": text.getvalue(),
            "places": text.places,
            "files": files.opened,
            "unused": sorted(set(arguments.given) - arguments.asked),
            "declared": sorted(arguments.asked),
        }
    except Exception as error:
        return {"problem": problem_of(error, xacro)}
