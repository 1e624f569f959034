"""The server of a page: one page, a stream of messages to it, and what it sends back.

It speaks HTTP on one port of this machine, in one thread that sleeps until there is something to
do. It serves no file: there are four requests, and each needs the token, which is random.

- ``GET /``: the page.
- ``GET /events``: messages for it, as server-sent events, each a JSON object. ``since`` is the
  number of the last message that the page knows, or ``Last-Event-ID`` where it comes back, and
  ``page`` a name of its own.
- ``POST /state``: what the page has to say, a JSON object, with ``page`` where it has a name.
- ``POST /picture``: the picture with this ``number`` that a page was asked to draw, as bytes; where
  nobody asked for pictures there is no such request.

Each message has a key, and only the newest of a key counts: it waits for a page that is slow, and
is kept for those that come later. Requests for another host
than this machine are refused, so that no name of a stranger's leads here (DNS rebinding), and so
are those that pages of others make.

Source: WHATWG HTML, section 9.2 (server-sent events); RFC 9112 (HTTP/1.1).
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import json
import os
import secrets
import socket
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

from linkwork.checks import whole_number
from linkwork.errors import InputError

Message: TypeAlias = "Mapping[str, Any]"
"""A message, which is written as a JSON object; its ``type`` says what it is."""

PORT = 8790
"""The port that is tried first where none is asked for."""
_PORTS_TRIED = 50

_LARGEST_HEAD, _LARGEST_BODY = 16 * 1024, 1024 * 1024
_MOST_CONNECTIONS = 64
_SECONDS_TO_ASK = 20.0
"""So long a connection may take over a request, or keep silent between two."""
_SECONDS_TO_LEAVE = 1.0
_FEW = 64 * 1024
"""So many bytes may wait in a connection; beyond them the newest message of each key waits here."""

_REASONS = {
    200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 411: "Length Required", 413: "Content Too Large",
    415: "Unsupported Media Type", 421: "Misdirected Request",
    431: "Request Header Fields Too Large", 500: "Internal Server Error",
    503: "Service Unavailable",
}  # fmt: skip

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    # the page is one file that needs nothing but itself and this server
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src blob:; "
        "worker-src blob:; connect-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    ),
}


class _Refused(Exception):
    """A request that is not answered as it would like."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class _Request(NamedTuple):
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


class _Event(NamedTuple):
    """A message with its number."""

    number: int
    text: str


@dataclass(eq=False)
class _Page:
    """A page that is open somewhere, and the messages that wait for it."""

    name: str
    writer: asyncio.StreamWriter
    waiting: dict[str, _Event]
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, events: Mapping[str, _Event]) -> None:
        """Let events wait, in the place of older ones with their keys."""
        for key, event in events.items():
            self.waiting.pop(key, None)
            self.waiting[key] = event
        self.ready.set()


class PageServer:
    """A page at an address, and messages from and to all who have it open.

    ``page`` gives its text for what it must know of the server: ``url``, ``token`` and ``since``.
    ``received`` takes what pages say: it gives the messages, by key, that the other pages are to
    have, or raises InputError with what was wrong. ``picture`` takes a picture's number and bytes,
    at most ``largest`` of them, and raises InputError too. All are called in the server's thread.
    """

    def __init__(
        self,
        page: Callable[[Message], str],
        received: Callable[[Any], Mapping[str, Message]],
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        picture: Callable[[int, bytes], None] | None = None,
        largest: int = 0,
    ) -> None:
        self._page, self._received = page, received
        self._picture, self._largest = picture, largest
        self.token = secrets.token_urlsafe(18)
        self.host = host
        self.embedded = False
        """Whether pages of other servers of this machine, as notebooks are, may hold the page."""
        self._socket = _bound(host, PORT if port is None else port)
        self.port: int = self._socket.getsockname()[1]
        self.fetched = threading.Event()
        """Whether the page has been asked for."""
        self._pages: set[_Page] = set()
        self._connections: set[asyncio.Task[None]] = set()
        self._changed = threading.Condition()
        self._had_pages = False
        self._lock = threading.Lock()
        self._number = 0
        self._newest: dict[str, _Event] = {}
        self._pending: dict[str, _Event] = {}
        self._waking = False
        self._closed = False
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="linkwork page", daemon=True
        )
        self._thread.start()
        started.wait()
        _SERVERS.add(self)

    # for those who have it

    @property
    def address(self) -> str:
        """The address without what is secret, as pages are told it."""
        shown = "127.0.0.1" if self.host in ("", "0.0.0.0", "::") else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def url(self) -> str:
        """The address for a browser."""
        return f"{self.address}/?token={self.token}"

    @property
    def outside_url(self) -> str:
        """The address for a browser on another machine."""
        host = socket.gethostname() if self.host in ("", "0.0.0.0", "::") else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def open_pages(self) -> int:
        """The number of pages that have their stream open."""
        return len(self._pages)

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._closed

    def send(self, key: str, message: Message) -> None:
        """Send a message to all pages, in the place of one with the same key that still waits."""
        with self._lock:
            if self._closed:
                return
            self._pending.pop(key, None)
            self._pending[key] = self._kept(key, message)
            if self._waking:
                return
            self._waking = True
            self._loop.call_soon_threadsafe(self._spread)

    def _kept(self, key: str, message: Message) -> _Event:
        """A message with the next number, kept for pages that come later; under the lock."""
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
        self._number += 1
        self._newest.pop(key, None)
        self._newest[key] = event = _Event(self._number, text)
        return event

    @property
    def for_a_page(self) -> dict[str, Any]:
        """The server as a page must know it; what happens from now on it will be told.

        ``url`` is empty: the page asks whoever it came from, which may be a tunnel's other end.
        """
        return {"url": "", "token": self.token, "since": self._number}

    def wait(self, *, until_pages_close: bool = False) -> None:
        """Return when it is closed, or when the last page has been closed for a second or two."""
        with self._changed:
            while not self._closed:
                # pages that load themselves again are away for a moment
                left = until_pages_close and self._had_pages and not self._pages
                if left and not self._changed.wait_for(
                    lambda: self._closed or bool(self._pages), timeout=_SECONDS_TO_LEAVE
                ):
                    return
                if not left:
                    self._changed.wait(_LONGEST_WAIT)

    def close(self) -> None:
        """Tell the pages, and end. What is closed stays closed."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._loop.call_soon_threadsafe(self._end)
        with self._changed:
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        _SERVERS.discard(self)

    # the thread

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            serving = asyncio.start_server(self._connected, sock=self._socket, limit=_LARGEST_HEAD)
            self._server = self._loop.run_until_complete(serving)
            started.set()
            self._loop.run_forever()
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    def _spread(self) -> None:
        with self._lock:
            taken, self._pending, self._waking = self._pending, {}, False
        for page in self._pages:
            page.put(taken)

    def _end(self) -> None:
        self._server.close()
        self._spread()
        for page in self._pages:
            page.put({"close": _Event(self._number, '{"type":"close"}')})
        self._ending = self._loop.create_task(self._leave())

    async def _leave(self) -> None:
        """Let pages have their last messages, then stop."""
        loop = self._loop
        before = loop.time() + _SECONDS_TO_LEAVE
        while any(p.waiting or _left(p.writer) for p in self._pages) and loop.time() < before:
            await asyncio.sleep(0.01)
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._loop.stop()

    # connections

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task: Any = asyncio.current_task()
        self._connections.add(task)
        try:
            if len(self._connections) > _MOST_CONNECTIONS:
                await _answer(writer, 503, "too many connections")
            else:
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked is gone, or the server ends
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after another."""
        while True:
            origin: str | None = None
            try:
                request = await _in_time(_request(reader, self._most_bytes))
                if request is None:
                    return
                self._check_host(request)
                origin = self._origin(request)
                self._check(request)
                if request.method == "GET" and request.path == "/events":
                    return await self._stream(request, reader, writer, origin)
                status, text, kind = self._answer_to(request)
            except _Refused as refused:
                await _answer(writer, refused.status, refused.text, origin=origin, close=True)
                return
            close = request.headers.get("connection", "").lower() == "close"
            await _answer(writer, status, text, kind, origin=origin, close=close)
            if request.method == "GET":
                self.fetched.set()
            if close:
                return

    def _answer_to(self, request: _Request) -> tuple[int, str, str]:
        if request.method == "OPTIONS":
            return 204, "", "text/plain"
        if request.path == "/":
            try:
                text = self._page(self.for_a_page)
            except Exception as error:
                raise _Refused(500, f"the page cannot be made: {error}") from error
            return 200, text, "text/html"
        if request.path == "/picture":
            self._take_picture(request)
        else:
            self._take(request)
        return 204, "", "text/plain"

    def _take_picture(self, request: _Request) -> None:
        number = request.query.get("number", [""])[0]
        if not (number.isascii() and number.isdecimal() and len(number) < 10 and self._picture):
            raise _Refused(400, "give the picture's number")
        try:
            self._picture(int(number), request.body)
        except InputError as error:
            raise _Refused(400, str(error)) from None

    def _take(self, request: _Request) -> None:
        """Take what a page says, and tell the others."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise _Refused(415, "send application/json")
        try:
            said = json.loads(request.body)
        except (ValueError, RecursionError):
            raise _Refused(400, "this is no JSON") from None
        try:
            messages = self._received(said)
        except InputError as error:
            raise _Refused(400, str(error)) from None
        with self._lock:
            events = {key: self._kept(key, message) for key, message in messages.items()}
        whose = said.get("page")
        for page in self._pages:
            if not whose or page.name != whose:
                page.put(events)

    async def _stream(
        self,
        request: _Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: str | None,
    ) -> None:
        """Messages for a page, until it goes away."""
        given = request.headers.get("last-event-id") or request.query.get("since", ["0"])[0]
        since = int(given) if given.isascii() and given.isdecimal() and len(given) < 16 else 0
        with self._lock:
            unknown = {key: e for key, e in self._newest.items() if e.number > since}
        page = _Page(request.query.get("page", [""])[0], writer, unknown)
        self._note(page, came=True)
        writer.write(_head(200, "text/event-stream", None, origin=origin, close=True))
        writer.transport.set_write_buffer_limits(high=_FEW)
        gone = asyncio.ensure_future(reader.read(1))  # a page has nothing more to ask here
        try:
            while not gone.done():
                events = list(page.waiting.values())
                page.waiting.clear()
                page.ready.clear()
                lines = [f"id: {event.number}\ndata: {event.text}\n\n" for event in events]
                writer.write("".join(lines).encode())
                await _either(gone, writer.drain())
                await _either(gone, page.ready.wait())
        finally:
            gone.cancel()
            self._note(page, came=False)

    def _note(self, page: _Page, *, came: bool) -> None:
        with self._changed:
            self._had_pages = True
            (self._pages.add if came else self._pages.discard)(page)
            self._changed.notify_all()

    # who may ask

    def _check_host(self, request: _Request) -> None:
        """Refuse names that are not this machine's."""
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        if name in ("localhost", self.host) or name.endswith(".localhost"):
            return
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            if not self._is_local() and name == socket.gethostname().lower():
                return
        else:
            if address.is_loopback or not self._is_local():
                return
        raise _Refused(421, "this server is not asked by that name")

    def _is_local(self) -> bool:
        return is_loopback(self.host)

    def _origin(self, request: _Request) -> str | None:
        """The page of another server that may ask, where it is one.

        Raises: _Refused for those that may not.
        """
        origin = request.headers.get("origin")
        if origin is None or origin == f"http://{request.headers.get('host', '')}":
            return None
        if self.embedded:
            found = urlsplit(origin)
            name = found.hostname or ""
            if origin == "null" or is_loopback(name) or found.scheme == "vscode-webview":
                return origin
        raise _Refused(403, "pages of others may not ask here")

    def _check(self, request: _Request) -> None:
        """Refuse what is not offered, and whoever does not have the token."""
        methods = {
            "/": ("GET",),
            "/events": ("GET",),
            "/state": ("POST",),
            "/picture": ("POST",),
        }.get(request.path)
        if methods is None or (request.path == "/picture" and self._picture is None):
            raise _Refused(404, "there is nothing here")
        if request.method not in (*methods, "OPTIONS"):
            raise _Refused(405, f"this takes {methods[0]}")
        if request.method == "OPTIONS":
            return  # a browser asks before the page may, and shows no token yet
        if not self._knows_token(request.query):
            raise _Refused(403, "the token of the address is missing or wrong: use the address as "
                                "it was printed")  # fmt: skip

    def _knows_token(self, query: Mapping[str, list[str]]) -> bool:
        given = query.get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _most_bytes(self, path: str, query: Mapping[str, list[str]]) -> int:
        """The largest body that is read: pictures, with the token, are larger than states."""
        large = path == "/picture" and self._knows_token(query)
        return max(self._largest, _LARGEST_BODY) if large else _LARGEST_BODY

    # after a fork

    def _forget(self) -> None:
        """In a child process: let go of the parent's connections, without a word to anyone."""
        self._closed, self._lock, self._changed = True, threading.Lock(), threading.Condition()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for each in [self._socket.fileno(), *[_number(p.writer) for p in self._pages]]:
            if each >= 0:
                os.dup2(
                    nowhere, each, inheritable=False
                )  # the object that has the number may still close it
        os.close(nowhere)


_LONGEST_WAIT = 0.5 if os.name == "nt" else None
"""On Windows nothing but the end of a wait lets Ctrl-C in."""

_SERVERS: weakref.WeakSet[PageServer] = weakref.WeakSet()


def _forget_all() -> None:
    for server in list(_SERVERS):
        server._forget()  # pyright: ignore[reportPrivateUsage]
    _SERVERS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# sockets


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens on the port, or the next one that is free; 0 is any.

    Raises: InputError where there is none.
    """
    whole_number(port, "port", least=0, most=65535)
    try:
        family, _, _, _, _ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(
            f"host {host!r} is no address of this machine ({error.strerror or error}): take "
            "'127.0.0.1', or '0.0.0.0' for all of its addresses"
        ) from None
    last = min(port + _PORTS_TRIED, 65535) if port else 0
    for each in range(port, last + 1):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # elsewhere it would share the port with whoever has it
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, each))
            made.listen(16)
            made.setblocking(False)
        except OSError as error:
            made.close()
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise InputError(f"host {host!r} cannot be used: {error.strerror or error}") from None
        else:
            return made
    raise InputError(f"the ports {port} to {last} are all taken: name another one, or 0 for any")


def is_loopback(host: str) -> bool:
    """Whether a host, a name or an address, is this machine as only itself reaches it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _number(writer: asyncio.StreamWriter) -> int:
    used = writer.get_extra_info("socket")
    return -1 if used is None else int(used.fileno())


def _left(writer: asyncio.StreamWriter) -> int:
    """Bytes that still wait in a connection."""
    return int(getattr(writer.transport, "get_write_buffer_size", int)())


# HTTP


async def _in_time(request: Coroutine[Any, Any, _Request | None]) -> _Request | None:
    try:
        return await asyncio.wait_for(request, _SECONDS_TO_ASK)
    except (asyncio.TimeoutError, TimeoutError):
        return None


async def _either(gone: asyncio.Future[bytes], work: Coroutine[Any, Any, Any]) -> None:
    """Do something unless the page goes away before."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({gone, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
    if task.done() and not task.cancelled():
        task.result()


async def _request(
    reader: asyncio.StreamReader, most_bytes: Callable[[str, dict[str, list[str]]], int]
) -> _Request | None:
    """The next request of a connection, None at its end; ``most_bytes`` of its path and query.

    Raises: _Refused for what is none.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise _Refused(431, "these headers are too long") from None
    line, *lines = head[:-4].decode("latin-1").split("\r\n")
    words = line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise _Refused(400, "this is no request of HTTP/1.1")
    try:
        found = urlsplit(words[1])
        query = parse_qs(found.query, max_num_fields=20)
    except ValueError:
        raise _Refused(400, "this is no address") from None
    headers = _headers(lines, most_bytes(found.path, query))
    length = int(headers.get("content-length", "0"))
    body = await reader.readexactly(length) if length else b""
    return _Request(words[0], found.path, query, headers, body)


def _headers(lines: list[str], most_bytes: int) -> dict[str, str]:
    """Headers by their names in small letters, the length of the body checked.

    Raises: _Refused.
    """
    headers: dict[str, str] = {}
    for each in lines:
        name, colon, value = each.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or name in headers:
            raise _Refused(400, "a header is written wrongly, or twice")
        headers[name] = value.strip()
    if "transfer-encoding" in headers:
        raise _Refused(411, "give Content-Length")
    given = headers.get("content-length", "0")
    if not (given.isascii() and given.isdecimal()):
        raise _Refused(400, "Content-Length is no number")
    if len(given) > 9 or int(given) > most_bytes:
        raise _Refused(413, "this is too much at once")
    return headers


def _head(
    status: int, kind: str, length: int | None, *, origin: str | None = None, close: bool = False
) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS[status]}"]
    headers = dict(_HEADERS)
    if kind:
        headers["Content-Type"] = f"{kind}; charset=utf-8"
    if length is not None:
        headers["Content-Length"] = str(length)
    if origin is not None:
        headers |= {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Content-Type",
            "Access-Control-Max-Age": "600",
            "Vary": "Origin",
        }
    headers["Connection"] = "close" if close else "keep-alive"
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _answer(
    writer: asyncio.StreamWriter,
    status: int,
    text: str,
    kind: str = "text/plain",
    *,
    origin: str | None = None,
    close: bool = True,
) -> None:
    body = text.encode()
    length = None if status == 204 else len(body)
    writer.write(_head(status, kind, length, origin=origin, close=close) + body)
    await writer.drain()
