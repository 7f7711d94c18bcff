"""Reviewers that have to ask somebody else first."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.server.pki import Authority
from tests.server.running_server import Running, allow, limits, post, running
from webhook.admission.answer import Answer
from webhook.server.lifecycle import Service
from webhook.settings import Settings

pytestmark = pytest.mark.integration


async def _soon(body: bytes) -> Answer:
    await asyncio.sleep(0)
    return allow(body)


async def _never(body: bytes) -> Answer:
    await asyncio.Event().wait()
    return allow(body)


async def _wrong(body: bytes) -> Answer:
    raise ValueError(f"a fault: {len(body)}")


def _answer(body: bytes) -> object:
    return {b'"soon"': _soon, b'"never"': _never, b'"wrong"': _wrong}[body](body)


@pytest.fixture
async def server(settings: Settings, authority: Authority) -> AsyncIterator[Running]:
    service = Service({"/mutate": _answer}, lambda: None)  # type: ignore[dict-item] -- what it answers is what it is asked
    async with running(settings, authority, service, limits(header_seconds=5.0, handshake_seconds=5.0)) as server:
        yield server


async def test_an_answer_that_takes_a_while_is_waited_for(server: Running) -> None:
    reply = await server.ask(post(b'"soon"'))
    assert (reply.status, reply.body) == (200, b'seen "soon"')


async def test_one_that_takes_too_long_is_an_error_with_a_text(server: Running) -> None:
    reply = await server.ask(post(b'"never"', "/mutate?timeout=300ms"))
    assert reply.status == 503
    assert json.loads(reply.body)["message"] == "the review was not decided in time; try again"


async def test_one_that_fails_is_an_error_without_details(server: Running) -> None:
    reply = await server.ask(post(b'"wrong"'))
    assert reply.status == 503
    assert json.loads(reply.body)["message"] == "the webhook failed to decide; its log has the details"
    assert server.figure("review_failures_total", path="/mutate") == 1


async def test_others_are_answered_meanwhile(server: Running) -> None:
    async with server.wire() as patient:
        patient.send(post(b'"never"', "/mutate?timeout=2s"))
        assert (await server.ask(post(b'"soon"'))).status == 200
