"""The template by itself: what it does when it is told something, and when the webhook hangs up."""

import functools
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.builders import node
from webhook.aggregated.review_template import (
    END,
    MEMORY,
    START,
    AnswerReview,
    EndReview,
    ReviewedState,
    ReviewTemplate,
    serve_template,
)
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.forked import Forked, forked
from webhook.cluster.judging.messages import written
from webhook.cluster.objects.kinds import NODES
from webhook.placement.inventory.inventory import Inventory

pytestmark = pytest.mark.integration


class CountedNodes(Struct, frozen=True):
    """A request: how many nodes are there, so many times."""

    times: int = 1


def raising(error: type[Exception]) -> Callable[..., Any]:
    def put(*_: object) -> None:
        raise error

    return put


def state(changes: ChangeLog | None = None) -> ReviewedState:
    inventory = Inventory()

    def count(request: CountedNodes) -> bytes:
        return b"%d" % len(inventory.nodes.nodes) * request.times

    return ReviewedState(inventory, changes or ChangeLog([NODES]), count)


def started(template: ReviewedState | None = None, *, idle: bool = False) -> Forked:
    child = forked(functools.partial(serve_template, state=template or state(), idle=idle))
    child.socket.setblocking(True)  # noqa: FBT003 -- the standard library's signature
    return child


def asked(child: Forked, *messages: Struct) -> socket.socket:
    """The socket of a review about which the template is told after these messages."""
    ours, theirs = socket.socketpair()
    with theirs:
        text = b"".join(map(written, (*messages, AnswerReview(MEMORY))))
        socket.send_fds(child.socket, [text], [theirs.fileno()])
    return ours


def said(review: socket.socket, text: bytes) -> bytes:
    """The whole answer to that text."""
    with review:
        assert len(review.recv(START.size)) == START.size
        review.sendall(text)
        review.shutdown(socket.SHUT_WR)
        return b"".join(iter(functools.partial(review.recv, 1000), b""))


def code(child: Forked) -> int:
    """With what the template ends, once the webhook has hung up."""
    child.socket.close()
    return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def test_reviews_are_answered_by_what_was_told_before() -> None:
    child = started()
    with child.socket:
        assert said(asked(child), written(CountedNodes())) == b"0" + END
        added = [InventoryChange(0, node(name)) for name in ("a", "b")]
        assert said(asked(child, *added), written(CountedNodes(3))) == b"222" + END
        child.socket.sendall(written(EndReview()) * 2)
        gone = InventoryChange(0, "a", gone=True)
        assert said(asked(child, gone), written(CountedNodes())) == b"1" + END
        assert code(child) == 0


def test_the_next_review_ends_the_one_before() -> None:
    child = started()
    with child.socket:
        first = asked(child)
        assert said(asked(child), written(CountedNodes())) == b"0" + END
        with first:
            assert first.recv(1000)[START.size :] == b""
            assert first.recv(1000) == b""
        assert code(child) == 0


def test_a_review_that_is_running_ends_with_its_template() -> None:
    child = started()
    with asked(child) as review:
        assert code(child) == 0
        assert review.recv(1000)[START.size :] == b""
        assert review.recv(1000) == b""


def test_a_request_that_breaks_off_has_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    child = started()
    with child.socket:
        assert said(asked(child), written(CountedNodes())[:-1]) == b""
        assert code(child) == 0
    assert capfd.readouterr().err == ""


def test_a_change_that_failed_in_the_webhook_fails_in_the_template_as_well() -> None:
    for error in (ValueError, KeyError):
        template = ReviewTemplate(state(ChangeLog([replace(NODES, put=raising(error))])))
        template.take(InventoryChange(0, node()))


def test_a_template_without_memory_for_a_change_ends() -> None:
    template = ReviewTemplate(state(ChangeLog([replace(NODES, put=raising(MemoryError))])))
    with pytest.raises(MemoryError):
        template.take(InventoryChange(0, node()))


def test_a_template_that_is_reset_ends_well() -> None:
    child = started()
    with child.socket:
        review = asked(child)
        assert said(review, written(CountedNodes())) == b"0" + END
        child.socket.shutdown(socket.SHUT_RDWR)
        assert code(child) == 0


@pytest.mark.parametrize("idle", [True, False])
def test_a_template_and_its_processes_run_on_idle_cores_if_they_are_told_to(
    monkeypatch: pytest.MonkeyPatch, *, idle: bool
) -> None:
    wanted = list[str]()

    def refuse(*what: object) -> None:
        wanted.append(repr(what[:2]))
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    child = started(ReviewedState(Inventory(), ChangeLog([NODES]), lambda _: ", ".join(wanted).encode()), idle=idle)
    with child.socket:
        assert said(asked(child), written(CountedNodes())) == (b"(0, %d)" % os.SCHED_IDLE if idle else b"") + END
        assert code(child) == 0
