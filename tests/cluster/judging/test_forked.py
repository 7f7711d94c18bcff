"""Children that begin with the memory of this process, and nothing else of it."""

import gc
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.placement.planning.search.hard_problem import hard_problem
from webhook.cluster.judging import forked as module
from webhook.cluster.judging.forked import Forked, forked
from webhook.placement.libraries import IMPORTING
from webhook.placement.planning.search import integer_program
from webhook.placement.planning.search.assignment import AssignmentProblem, Block

pytestmark = pytest.mark.integration

SMALL = AssignmentProblem(np.arange(1), np.array([[1]]), (Block(1, np.array([True]), (1,)),))


@pytest.fixture
def start() -> Iterator[Callable[[Callable[[socket.socket], object]], Forked]]:
    """Starts a child, of which nothing is left at the end."""
    children: list[Forked] = []

    def started(work: Callable[[socket.socket], object]) -> Forked:
        child = forked(work)
        children.append(child)
        return child

    yield started
    for child in children:
        child.socket.close()
        os.waitpid(child.pid, 0)


def open_now() -> set[int]:
    """The descriptors that are open in this process, and that of the folder of the kernel that lists them."""
    return {int(path.name) for path in Path("/proc/self/fd").iterdir()}


def said(child: Forked) -> str:
    """All that the child says until it ends."""
    child.socket.settimeout(None)
    return b"".join(iter(lambda: child.socket.recv(1000), b"")).decode()


def code(child: Forked) -> int:
    """With what the child ends; afterwards another child takes its place among those to be waited for."""
    return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def test_a_child_has_the_memory_of_its_parent(start: Callable[..., Forked]) -> None:
    found = {"known": "here"}
    child = start(lambda channel: channel.sendall(f"{found['known']} {os.getppid()}".encode()))
    assert said(child) == f"here {os.getpid()}"


def test_a_child_has_no_descriptor_but_its_socket_and_standard_ones(start: Callable[..., Forked]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def open_ones(channel: socket.socket) -> None:
            found = [number for number in open_now() if number > 2]
            channel.sendall(f"{listening.fileno() in found} {len(found)}".encode())

        # The second one is that of the folder which is being listed.
        assert said(start(open_ones)) == "False 2"


def test_signals_mean_what_they_mean_by_default(start: Callable[..., Forked]) -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        child = start(
            lambda channel: channel.sendall(
                repr([signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]).encode()
            )
        )
        assert said(child) == repr([signal.SIG_DFL, signal.SIG_IGN])
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_child_stands_back_and_lets_go_of_the_parents_loop(start: Callable[..., Forked]) -> None:
    child = start(
        lambda channel: channel.sendall(
            f"{os.nice(0)} {tuple(sys.get_asyncgen_hooks())} {signal.set_wakeup_fd(-1)}".encode()
        )
    )
    assert said(child) == f"{min(19, os.nice(0) + module.NICE)} (None, None) -1"


def test_the_system_ends_a_child_for_want_of_memory_before_its_parent(start: Callable[..., Forked]) -> None:
    adjustment = Path("/proc/self/oom_score_adj")
    child = start(lambda channel: channel.sendall(adjustment.read_bytes()))
    assert int(said(child)) == 900 > int(adjustment.read_text())


def test_what_is_inherited_is_not_looked_through(start: Callable[..., Forked]) -> None:
    child = start(lambda channel: channel.sendall(str(gc.get_freeze_count() > 1000).encode()))
    assert said(child) == "True"


def test_a_program_is_solved_in_a_child_of_a_process_that_solves_one(start: Callable[..., Forked]) -> None:
    solving = threading.Thread(target=integer_program.solve, args=(hard_problem(), 0.5))
    solving.start()
    child = start(lambda channel: channel.sendall(str(integer_program.solve(SMALL, 5.0).proved).encode()))
    found = said(child)
    solving.join()
    assert found == "True"


def test_no_child_begins_while_a_thread_imports_a_library(start: Callable[..., Forked]) -> None:
    """The child would wait for that thread, which it has not got."""
    importing, imported = threading.Event(), threading.Event()

    def slowly() -> None:
        with IMPORTING:
            importing.set()
            time.sleep(0.1)
            imported.set()

    thread = threading.Thread(target=slowly)
    thread.start()
    assert importing.wait(60)
    child = start(lambda channel: channel.sendall(f"{imported.is_set()} {IMPORTING.locked()}".encode()))
    assert said(child) == "True False"
    thread.join()


def _end_of(work: Callable[[socket.socket], object]) -> int:
    child = forked(work)
    with child.socket:
        return code(child)


def test_a_child_that_is_done_ends_well() -> None:
    assert _end_of(lambda _: None) == 0


def test_an_error_is_written_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> None:
        raise ValueError("unforeseen")

    assert _end_of(broken) == 1
    assert capfd.readouterr().err.splitlines()[-1] == "ValueError: unforeseen"


def test_a_child_whose_parent_has_ended_already_does_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert _end_of(lambda channel: channel.sendall(b"done")) == 1
    assert capfd.readouterr().err.splitlines()[-1] == "ProcessLookupError: the parent has ended"


def test_where_no_process_can_be_started_nothing_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    before = open_now()
    with pytest.raises(BlockingIOError):
        forked(lambda _: None)
    assert open_now() == before


def test_a_child_ends_with_its_parent() -> None:
    """A parent that is killed has no time to say so; its child is told by the system."""

    def parent(channel: socket.socket) -> None:
        child = forked(lambda _: signal.pause())  # it would not notice that nobody is at the other end
        channel.sendall(str(child.pid).encode())
        signal.pause()

    child = forked(parent)
    with child.socket:
        child.socket.settimeout(30)
        grandchild = os.pidfd_open(int(child.socket.recv(100)))
        try:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            assert select.select([grandchild], [], [], 30)[0]
        finally:
            os.close(grandchild)
