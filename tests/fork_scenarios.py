"""Forks, each scenario meant to be run in a process of its own: `python fork_scenarios.py NAME`.

A test runner may hold threads of other packages, which make a fork of it unsafe.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np

import linkwork as lw
from linkwork import settings
from linkwork.compile.machine_code import COMPILING


def answers(r: lw.Robot) -> bytes:
    """The bits of poses, Jacobians and solutions of a six-axis arm, short and long batches."""
    q = r.random(20_000, seed=8)
    T = r.fk(q[:50])
    parts = (r.fk(q, threads=2), r.jacobian(q[:9]), r.com(q[3]), r.ik(T).q, r.ik(T[0]).q)
    return b"".join(part.tobytes() for part in parts)


def in_child(work) -> int:
    """The exit status of a forked child that runs ``work``; it has 30 seconds."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def a_child_of_fork_computes_what_its_parent_does():
    r = lw.load("ur5e")
    expected = answers(r)  # with threads: their pool does not survive the fork
    assert in_child(lambda: answers(r) == expected) == 0
    assert in_child(lambda: answers(lw.load("ur5e")) == expected) == 0
    assert answers(r) == expected


def a_fork_while_another_thread_compiles_does_not_hang_the_child():
    r, held, done = lw.load("planar_2r"), threading.Event(), threading.Event()

    def compile_for_a_while() -> None:
        with COMPILING:
            held.set()
            done.wait(3)  # what waits for us before it forks is let go then

    other = threading.Thread(target=compile_for_a_while)
    other.start()
    held.wait(10)
    status = in_child(lambda: r.fk(r.neutral()).shape == (4, 4))
    done.set()
    other.join()
    assert status == 0, f"the child ended with {status}"


def forks_at_any_moment_of_compiling():
    warm, stop = lw.load("planar_2r"), threading.Event()
    warm.jacobian(warm.neutral())  # forks while a module is being imported are Python's business

    def compile_on_and_on() -> None:
        while not stop.is_set():
            r = lw.load("planar_2r")
            r.fk(r.neutral())

    other = threading.Thread(target=compile_on_and_on)
    other.start()

    def work() -> bool:
        r = lw.load("planar_2r")
        return bool(np.isfinite(r.jacobian(r.neutral())).all())

    found: list[int] = []
    try:
        for _ in range(8):
            found.append(in_child(work))
            if found[-1] != 0:
                break
    finally:
        stop.set()
        other.join()
    assert found == [0] * 8


def a_fork_while_a_compilation_is_told_of_waits_for_it():
    held = threading.Event()

    def compile_for_a_while() -> None:
        with settings.compiler().work("nothing"):
            held.set()
            time.sleep(1.2)

    other = threading.Thread(target=compile_for_a_while)
    other.start()
    held.wait(10)

    def work() -> bool:
        r = lw.load("planar_2r")
        return threading.active_count() == 1 and r.fk(r.neutral()).shape == (4, 4)

    status = in_child(work)
    other.join()
    assert status == 0, f"the child ended with {status}"
    assert threading.active_count() == 1


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("fine")
