"""The server of a page, asked as browsers and strangers ask it."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from linkwork.errors import InputError
from linkwork.view.server import PageServer
from pages import until


class Events:
    """A page that listens: the JSON objects of its stream, one after another."""

    def __init__(self, server: PageServer, since: int | str = 0, name: str = "", **headers: str):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        path = f"/events?token={server.token}&since={since}&page={name}"
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200

    def next(self) -> Any:
        for line in iter(self.response.readline, b""):
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def close(self) -> None:
        self.response.close()
        self.connection.close()


class Made:
    """A server, and what it was told."""

    def __init__(self, **how: Any):
        self.said: list[Any] = []
        self.server = PageServer(self.page, self.received, **{"port": 0, **how})

    def page(self, live: Any) -> str:
        return f"<html>{json.dumps(dict(live))} ü</html>"

    def received(self, said: Any) -> Any:
        if not isinstance(said, dict) or "q" not in said:
            raise InputError("there is no q")
        self.said.append(said)
        return {"q 0": {"type": "q", "q": said["q"]}}

    def ask(
        self,
        method: str = "GET",
        path: str = "/",
        body: Any = None,
        token: str | None = None,
        **headers: str,
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        token = self.server.token if token is None else token
        text = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"{path}?token={token}", text, named)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        found = (answer.status, answer.read(), told)
        connection.close()
        return found


@pytest.fixture
def made() -> Iterator[Made]:
    found = Made()
    yield found
    found.server.close()


# --- what is offered


def test_the_page_comes_with_headers_that_keep_it_to_itself(made: Made):
    status, text, headers = made.ask()
    assert status == 200
    live = json.loads(text.decode()[6:-9])
    assert live == {"url": "", "token": made.server.token, "since": 0}
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    assert made.server.fetched.wait(5.0)


def test_the_url_is_that_of_the_page(made: Made):
    found = urlsplit(made.server.url)
    assert (found.hostname, found.port, found.path) == ("127.0.0.1", made.server.port, "/")
    assert found.query == f"token={made.server.token}"
    assert len(made.server.token) >= 20


def test_a_state_is_taken_and_goes_to_the_other_pages_alone(made: Made):
    one, other = Events(made.server, name="one"), Events(made.server, name="other")
    assert made.ask("POST", "/state", {"page": "one", "q": [1.0]})[0] == 204
    assert made.said == [{"page": "one", "q": [1.0]}]
    assert other.next() == {"type": "q", "q": [1.0]}
    made.server.send("end", {"type": "end"})
    assert one.next() == {"type": "end"}
    one.close()
    other.close()


def test_connections_are_kept_for_more_than_one_request(made: Made):
    connection = http.client.HTTPConnection("127.0.0.1", made.server.port, timeout=10)
    for _ in range(3):
        body, kind = json.dumps({"q": []}), {"Content-Type": "application/json"}
        connection.request("POST", f"/state?token={made.server.token}", body, kind)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (204, b"")
    assert len(made.said) == 3
    connection.close()


def test_every_open_page_hears_the_messages_in_order(made: Made):
    pages = [Events(made.server) for _ in range(3)]
    for k in range(5):
        made.server.send(f"message {k}", {"k": k})
    for page in pages:
        assert [page.next()["k"] for _ in range(5)] == [0, 1, 2, 3, 4]
        page.close()


def test_a_page_hears_what_has_changed_since_it_was_made(made: Made):
    made.server.send("q", {"q": 0})
    live = json.loads(made.ask()[1].decode()[6:-9])
    made.server.send("q", {"q": 1})
    made.server.send("ghost", {"ghost": 1})
    made.server.send("q", {"q": 2})
    page = Events(made.server, live["since"])
    assert [page.next(), page.next()] == [{"ghost": 1}, {"q": 2}]  # of each key the newest
    page.close()
    back = Events(made.server, live["since"], **{"Last-Event-ID": "3"})
    assert back.next() == {"q": 2}
    back.close()
    late = Events(made.server, "x")
    assert late.next() == {"ghost": 1}
    late.close()


def test_of_a_slow_page_only_the_newest_messages_wait(made: Made):
    page = Events(made.server)
    text = "x" * 100_000
    for k in range(400):  # 40 MB, more than the connection takes
        made.server.send("big", {"k": k, "text": text})
        time.sleep(0.001)
    made.server.send("last", {"k": -1})
    heard = [message["k"] for message in iter(page.next, {"k": -1})]
    assert heard == sorted(heard)
    assert heard[-1] == 399
    assert len(heard) < 300
    page.close()


def test_pages_that_go_away_are_dropped(made: Made):
    pages = [Events(made.server) for _ in range(3)]
    assert made.server.open_pages == 3
    pages[0].close()
    until(lambda: made.server.open_pages == 2)
    for page in pages[1:]:
        page.close()
    until(lambda: made.server.open_pages == 0)


# --- who is refused


@pytest.mark.parametrize("path", ["/", "/events", "/state"])
@pytest.mark.parametrize("token", ["", "x", "é"])
def test_nothing_is_answered_without_the_token(made: Made, path: str, token: str):
    method = "POST" if path == "/state" else "GET"
    token = token.encode().hex() if not token.isascii() else token
    status, text, _ = made.ask(method, path, {"q": []}, token=token)
    assert status == 403
    assert b"token" in text
    assert not made.said


@pytest.mark.parametrize(
    "path", ["/index.html", "/..", "/../../etc/passwd", "//etc/passwd", "/events/", "/%2e%2e/x"]
)
def test_there_are_no_files(made: Made, path: str):
    assert made.ask("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/"), ("GET", "/state"), ("PUT", "/state"), ("HEAD", "/"), ("DELETE", "/events")],
)
def test_other_methods_are_refused(made: Made, method: str, path: str):
    assert made.ask(method, path)[0] == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:9", 200),  # a tunnel has a port of its own
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.168.1.7", 421),
        ("", 421),
    ],
)
def test_names_that_are_not_this_machines_lead_nowhere(made: Made, host: str, status: int):
    assert made.ask(Host=host)[0] == status


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "http://localhost:8888", "x"]
)
def test_pages_of_others_may_not_ask(made: Made, origin: str):
    assert made.ask("POST", "/state", {"q": [1.0]}, Origin=origin)[0] == 403
    assert made.ask("GET", "/events", Origin=origin)[0] == 403
    assert not made.said


def test_its_own_page_may_ask(made: Made):
    assert made.ask("POST", "/state", {"q": []}, Origin=made.server.address)[0] == 204


def test_notebooks_may_ask_once_the_page_is_in_one(made: Made):
    made.server.embedded = True
    for origin in ("http://localhost:8888", "null", "vscode-webview://abc"):
        status, _, headers = made.ask("POST", "/state", {"q": []}, Origin=origin)
        assert (status, headers["access-control-allow-origin"]) == (204, origin)
        status, _, headers = made.ask("OPTIONS", "/state", token="none", Origin=origin)
        assert (status, headers["access-control-allow-headers"]) == (204, "Content-Type")
    assert made.ask("POST", "/state", {"q": []}, Origin="https://evil.example")[0] == 403
    assert made.ask("POST", "/state", {"q": []}, token="x", Origin="null")[0] == 403


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"[1]", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b'{"q": []}', {"Content-Type": "application/json; charset=utf-8"}, 204),
    ],
)
def test_what_is_no_state_is_refused(made: Made, body: bytes, headers: Any, status: int):
    assert made.ask("POST", "/state", body, **headers)[0] == status


RAW: dict[str, tuple[bytes, bytes]] = {
    "too long a head": (b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
    "too long a body": (b"POST /state HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n", b"413"),
    "digits without end": (
        b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"413",
    ),
    "a negative length": (b"POST /state HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
    "two lengths": (b"GET / HTTP/1.1\r\nContent-Length: 0\r\ncontent-length: 5\r\n\r\n", b"400"),
    "pieces": (b"POST /state HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
    "no colon": (b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"400"),
    "a folded header": (b"GET / HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n", b"400"),
    "no HTTP": (b"hello\r\n\r\n", b"400"),
    "TLS": (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
    "no address": (b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
    "many words": (b"GET /?" + b"a=1&" * 100 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
}


@pytest.mark.parametrize("name", RAW)
def test_what_is_no_request_is_refused(made: Made, name: str):
    sent, status = RAW[name]
    with socket.create_connection(("127.0.0.1", made.server.port), timeout=10) as connection:
        connection.sendall(sent)
        assert connection.recv(1000).split(b" ")[1] == status
    assert made.ask()[0] == 200  # and the next one is answered


def test_a_connection_that_breaks_off_harms_nobody(made: Made):
    for sent in (b"", b"GET / HT", b"POST /state HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc"):
        socket.create_connection(("127.0.0.1", made.server.port)).sendall(sent)
    assert made.ask()[0] == 200


def test_a_page_that_cannot_be_made_is_told_of():
    def broken(live: Any) -> str:
        raise InputError("there is no robot")

    server = PageServer(broken, dict, port=0)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", f"/?token={server.token}")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (500, b"the page cannot be made: there is no robot")
    server.close()


# --- addresses


def test_of_a_port_that_is_taken_the_next_one_is_used(made: Made):
    other = Made(port=made.server.port)
    assert made.server.port < other.server.port < made.server.port + 50
    assert other.ask()[0] == made.ask()[0] == 200
    other.server.close()


def test_a_port_is_free_again_once_it_is_closed():
    first = Made()
    port = first.server.port
    page = Events(first.server)
    first.server.close()
    page.close()
    again = Made(port=port)
    assert again.server.port == port
    again.server.close()


def test_an_address_of_others_is_refused():
    with pytest.raises(InputError, match="no address of this machine"):
        Made(host="no.such.name.invalid")
    with pytest.raises(InputError, match="cannot be used"):
        Made(host="192.0.2.1")


def test_all_addresses_are_served_only_where_asked_for():
    made = Made(host="0.0.0.0")
    assert made.server.url.startswith("http://127.0.0.1:")
    assert made.ask(Host="192.168.1.7:80")[0] == 200
    assert made.ask(Host=socket.gethostname())[0] == 200
    assert made.ask(Host="evil.example")[0] == 421
    assert made.ask(token="x")[0] == 403
    made.server.close()


# --- its end


def test_closing_tells_the_pages_and_leaves_no_thread():
    before = set(threading.enumerate())
    made = Made()
    pages = [Events(made.server) for _ in range(2)]
    idle = socket.create_connection(("127.0.0.1", made.server.port))
    made.server.send("last", {"k": 1})
    made.server.close()
    for page in pages:
        assert [page.next(), page.next(), page.next()] == [{"k": 1}, {"type": "close"}, None]
        page.close()
    idle.close()
    assert set(threading.enumerate()) == before
    assert made.server.closed
    made.server.close()
    made.server.send("more", {"k": 2})
    with pytest.raises(OSError, match="refused"):
        made.ask()


@pytest.mark.slow
def test_a_page_that_takes_nothing_does_not_hold_up_the_end():
    made = Made()
    page = Events(made.server)
    for k in range(3):
        made.server.send(f"big {k}", {"text": "x" * 20_000_000})
    start = time.monotonic()
    made.server.close()
    assert time.monotonic() - start < 3.0
    page.close()


def test_waiting_ends_when_it_is_closed():
    made = Made()
    threading.Timer(0.1, made.server.close).start()
    made.server.wait()
    assert made.server.closed


@pytest.mark.slow
def test_waiting_ends_when_the_last_page_has_been_closed(made: Made):
    page = Events(made.server)
    ended = threading.Event()

    def wait() -> None:
        made.server.wait(until_pages_close=True)
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    page.close()
    until(lambda: made.server.open_pages == 0)
    page = Events(made.server)  # it was loaded again
    assert not ended.wait(1.3)
    page.close()
    assert ended.wait(5.0)


def test_idle_it_takes_no_processor_time(made: Made):
    pages = [Events(made.server) for _ in range(2)]
    made.ask()
    time.sleep(0.2)
    before, start = os.times(), time.monotonic()
    switches = _switches()
    time.sleep(0.7)
    after = os.times()
    spent = (after.user - before.user) + (after.system - before.system)
    assert spent < 0.02 * (time.monotonic() - start)
    if switches is not None:  # a thread that wakes ten times a second switches ten times
        assert _switches() - switches < 10
    for page in pages:
        page.close()


def _switches() -> Any:
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def _child(server: PageServer, answer: Any) -> None:
    server.send("from the child", {"k": 1})
    answer.put(server.closed)
    time.sleep(30.0)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_a_process_that_is_forked_leaves_the_pages_to_its_parent():
    made = Made()
    page = Events(made.server)
    fork = multiprocessing.get_context("fork")
    answer = fork.Queue()
    child = fork.Process(target=_child, args=(made.server, answer))
    child.start()
    try:
        assert answer.get(timeout=10)  # closed, for the child
        made.server.send("from the parent", {"k": 2})
        assert page.next() == {"k": 2}
        made.server.close()
        assert [page.next(), page.next()] == [{"type": "close"}, None]  # no end is held open
        with pytest.raises(OSError, match="refused"):
            made.ask()
    finally:
        child.kill()
        child.join()
    page.close()
