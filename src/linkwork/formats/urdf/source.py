"""The bytes of a description, from a path, a text or bytes, as UTF-8 and within limits.

Two slips make a description no XML, and leave no doubt what it says: white space before the XML
declaration, and name spaces that are used and declared nowhere. `well_formed` mends them.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from xml.parsers import expat

from linkwork.errors import DescriptionError, Finding, MissingFileError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Files
no-file | error | There is no such file. | Mind the folder that you are in.
not-a-file | error | A folder, pipe or device. | Name a file.
unreadable | error | The system does not let the file be read. | See its reason.
file-size | error | More than 256 MB, or 150,000 joints. | Split it.
compressed | error | The file is an archive. | Unpack it first.
encoding | error | Not text in the encoding it declares. | Save it as UTF-8.
declaration | warning | White space before the XML declaration: read as if it were behind. | Put the
    declaration first.
undeclared-prefix | warning | A name space that is declared nowhere: what has it is kept, not used.
    | Declare it on `<robot>`.
"""


LARGEST_FILE = 256 * 1024 * 1024
"""The largest description, in bytes."""

MOST_JOINTS = 150_000
"""Joints of the longest description: some 20 s and 2 GB."""

_DECLARED = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._:\-]{1,40})[\"']")
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark begins this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
# Only encodings of text: Python's codec list also has compressors and escapes.
_ENCODINGS = re.compile(
    r"(utf-?(8|16|32)(-?[lb]e)?|(us-?)?ascii|(iso-?)?8859-?\d{1,2}|latin-?1|(windows|cp)-?125\d"
    r"|koi8-[ru]|gb2312|gbk|gb18030|big5|shift-?jis|euc-?(jp|kr)|iso-?ir-?100)"
)

_FIRST = 4096  # bytes that an XML declaration begins in

_PLAIN = ("utf-8", "utf8", "ascii", "us-ascii")
_NO_PATH = "an XML text begins with '<'; anything else is taken as a path"
_BEFORE = "\ufeff \t\r\n"


def refuse(
    file: str | None, code: str, message: str, hint: str = "", line: int = 0
) -> DescriptionError:
    """The error of a source that is not read at all."""
    name = show(file, 4096) if file else ""
    kind = MissingFileError if code == "no-file" else DescriptionError
    return kind([Finding("error", code, message, name, line, hint=hint)])


@contextmanager
def collector_paused(large: bool) -> Generator[None, None, None]:
    """Python's garbage collector off, where something is ``large``.

    From about 1 MB on it would look at every record again and again, for a quarter of the time.
    """
    resume = large and gc.isenabled()
    if resume:
        gc.disable()
    try:
        yield
    finally:
        if resume:
            gc.enable()


def gather(source: str | os.PathLike[str] | bytes, file: str | None) -> tuple[bytes, str | None]:
    """The description as UTF-8 bytes, and the name of its file (None for a text without one).

    Raises: as `given` and `as_utf8`.
    """
    data, name = given(source, file)
    return as_utf8(data, name), name


def given(
    source: str | os.PathLike[str] | bytes, file: str | None
) -> tuple[str | bytes, str | None]:
    """The description as it is, text or bytes, and the name of its file.

    A str that begins with '<' is the description itself, any other one is a path.

    Raises: MissingFileError; DescriptionError when it is no regular file, it cannot be read, or is
    larger than `LARGEST_FILE`; TypeError for a source of another type.
    """
    if isinstance(source, str):
        if source.lstrip(_BEFORE).startswith("<"):
            return source, file
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        if len(data) > LARGEST_FILE:
            raise _too_large(file, len(data), LARGEST_FILE)
        return data, file
    try:
        path = os.fsdecode(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(f"a description is a path, an XML text or bytes, not {kind}") from None
    return bytes_of_file(path, LARGEST_FILE, hint=_NO_PATH), path if file is None else file


def check_joints(data: bytes, file: str | None) -> None:
    """Refuse a description of too many joints before any of them is read.

    Raises: DescriptionError.
    """
    count = data.count(b"<joint")
    if count > MOST_JOINTS:
        message = f"it has {count:,} joints; descriptions of at most {MOST_JOINTS:,} are read"
        raise refuse(file, "file-size", message, "split it into robots of their own")


def _too_large(file: str | None, size: int, largest: int) -> DescriptionError:
    message = f"it has {size:,} bytes; at most {largest:,} are read"
    return refuse(file, "file-size", message)


def _of_text(text: str, file: str | None) -> bytes:
    """An XML text: what its declaration says of the encoding no longer counts."""
    if len(text) > LARGEST_FILE:
        raise _too_large(file, len(text), LARGEST_FILE)
    body = text.lstrip(_BEFORE)
    lines = text.count("\n", 0, len(text) - len(body))
    if body.startswith("<?xml") and "?>" in body:
        # Nothing may stand before a declaration: the lines go behind it, so that numbers stay.
        declaration, _, body = body.partition("?>")
        declaration += "?>"
    else:
        declaration = ""
    try:
        return (declaration + "\n" * lines + body).encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        message = "a lone surrogate is no character"
        raise refuse(file, "encoding", message, line=line) from None


def bytes_of_file(path: str, largest: int, *, hint: str = "") -> bytes:
    """The bytes of a regular file; anything else (folder, pipe, device) is not even opened.

    ``hint`` is told where there is no such file.

    Raises: as `given`.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device"
            raise refuse(path, "not-a-file", f"this is {kind}, not a file")
        if status.st_size > largest:
            raise _too_large(path, status.st_size, largest)
        # Should a pipe take the file's place in between, opening must not wait for it.
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise refuse(path, "not-a-file", "this is no longer a regular file")
            data = _all_bytes(descriptor, path, status.st_size, largest)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise refuse(path, "no-file", "there is no such file", hint) from None
    except (OSError, ValueError) as error:
        if isinstance(error, DescriptionError):
            raise
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:  # a text, most likely
            message = "there is no such file: no name is that long"
            raise refuse(show(path, 80), "no-file", message, hint) from None
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(path, "unreadable", f"the file cannot be read: {reason}") from None
    return data


def _all_bytes(descriptor: int, path: str, expected: int, largest: int) -> bytes:
    """All of a file, which may be longer than it claimed, up to the limit."""
    parts: list[bytes] = []
    size = 0
    most = min(max(expected, 1 << 16), 1 << 20) + 1  # one more, to see at once that it is all
    while part := os.read(descriptor, most):
        parts.append(part)
        size += len(part)
        if size > largest:
            raise _too_large(path, size, largest)
    return b"".join(parts)


def as_utf8(data: str | bytes, file: str | None) -> bytes:
    """The same text in UTF-8, honouring a byte order mark or the XML declaration.

    Raises: DescriptionError for what is compressed, or not text in the encoding that it declares.
    """
    if isinstance(data, str):
        return _of_text(data, file)
    for mark, kind in _COMPRESSED.items():
        if data.startswith(mark):
            raise refuse(
                file, "compressed", f"this is {kind} data, not XML", "unpack it first", line=1
            )
    encoding = _encoding_of(data)
    if encoding in _PLAIN:
        return data
    bytewise = data[:1] == b"<" and encoding in ("utf-16", "utf-32")
    if bytewise or not _ENCODINGS.fullmatch(encoding):
        hint = "save the file as UTF-8"
        raise refuse(file, "encoding", f"the encoding '{show(encoding)}' is not read", hint, 1)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} is not text in {encoding}, which the file declares"
        raise refuse(file, "encoding", message, "save the file as UTF-8", line) from None
    except LookupError:
        raise refuse(
            file, "encoding", f"the encoding '{show(encoding)}' is not known", line=1
        ) from None
    return text.encode().removeprefix(codecs.BOM_UTF8)


def _encoding_of(data: bytes) -> str:
    """The encoding that a byte order mark or the XML declaration says; UTF-8 where none does."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is not None:
        return encoding
    start = data.removeprefix(codecs.BOM_UTF8)[:_FIRST].lstrip(b" \t\r\n")
    declared = _DECLARED.match(start[:256])
    return declared[1].decode("ascii").lower().replace("_", "-") if declared else "utf-8"


def text_of(source: str | bytes) -> tuple[str, str]:
    """The text that `gather` took (a byte order mark among it), and its encoding.

    A text has been decoded by somebody else, so it has none.
    """
    if isinstance(source, str):
        return source, ""
    encoding = _encoding_of(source)
    if encoding in _PLAIN:
        encoding = "utf-8"
    elif encoding in ("utf-16", "utf-32"):  # with a mark, which says the order
        little = source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE))
        encoding += "-le" if little else "-be"
    return source.decode(encoding), encoding


def encoded(text: str, encoding: str) -> bytes:
    """The bytes of a text in the encoding of `text_of`; what that lacks as references.

    A text without an encoding becomes UTF-8, and its declaration says so.
    """
    if encoding:
        return text.encode(encoding, "xmlcharrefreplace")
    data = text.encode()
    declared = _DECLARED.match(data.lstrip(b"\xef\xbb\xbf \t\r\n")[:256])
    if declared is None or declared[1].decode("ascii").lower().replace("_", "-") in _PLAIN:
        return data
    return data.replace(declared[1], b"UTF-8", 1)


# ---- slips that are mended

UNDECLARED = "urn:undeclared:"
"""The name space, before its name, of a prefix that is declared nowhere."""

MENDABLE = tuple(
    expat.errors.codes[text]
    for text in (expat.errors.XML_ERROR_UNBOUND_PREFIX, expat.errors.XML_ERROR_MISPLACED_XML_PI)
)
"""The codes of expat for such slips."""

LATE = "there is white space before the XML declaration"

_BEFORE_DECLARATION = re.compile(rb"(\xef\xbb\xbf)?([ \t\r\n]+)(<\?xml\s.*?\?>)", re.DOTALL)
_PREFIX = re.compile(rb"[<\s]([^\s<>=:\"'/!?]+):[^\s<>=:\"'/]+")
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_VALUES = re.compile(rb"\"[^\"]*\"|'[^']*'")
_ROOT = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->)*<[^\s/>?!]+", re.DOTALL)
_MOST = 100  # prefixes that a file may use without declaring them


def well_formed(data: bytes, findings: Findings) -> bytes:
    """The data with these slips mended, on the same lines; each is a finding."""
    data, line = declaration_first(data)
    if line:
        findings.add("warning", "declaration", LATE, line=line, hint="it comes first in a file")
    declared: set[bytes] = set()
    while (missing := _undeclared(data)) is not None and len(declared) < _MOST:
        line, prefixes = missing
        new = [prefix for prefix in prefixes if prefix not in declared]
        root = _ROOT.match(data)
        if not new or root is None:
            return data
        declared.update(new)
        text = b"".join([b' xmlns:%b="%b%b"' % (p, UNDECLARED.encode(), p) for p in new])
        data = data[: root.end()] + text + data[root.end() :]
        names = ", ".join(f"'{show(prefix.decode(errors='replace'), 40)}'" for prefix in new)
        message = f"the prefix {names} is declared nowhere"
        hint = "declare it on <robot> with xmlns:..."
        findings.add("warning", "undeclared-prefix", message, line=line, hint=hint)
    return data


def declaration_first(data: bytes) -> tuple[bytes, int]:
    """The data with the XML declaration before white space, and the line it was on; 0: it was."""
    found = _BEFORE_DECLARATION.match(data)
    if not found:
        return data, 0
    mark, space, declaration = found[1] or b"", found[2], found[3]
    lines = space.count(b"\n")
    return mark + declaration + b"\n" * lines + data[found.end() :], lines + 1


def _undeclared(data: bytes) -> tuple[int, list[bytes]] | None:
    """The line of the first tag with prefixes that are not declared, and what they may be."""
    if b"<!DOCTYPE" in data:  # it is refused, and what it defines is not looked at
        return None
    parser = expat.ParserCreate("utf-8", "\n")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        tag = _TAG.match(data, parser.ErrorByteIndex)
        if tag is None or error.code != MENDABLE[0]:
            return None
        bare = _VALUES.sub(b"", tag[0])
        given = {b"xml", b"xmlns", *re.findall(rb"\sxmlns:([^\s=]+)", bare)}
        return error.lineno, [p for p in dict.fromkeys(_PREFIX.findall(bare)) if p not in given]
    return None
