"""The server's end of the socket to its worker."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator

import pytest

from webhook.cluster.judging import channel
from webhook.cluster.judging.channel import Channel, ChannelFullError
from webhook.cluster.judging.messages import Failed, Forget, FromWorker, MessageReader, written

MANY = 20_000


class Ends:
    """A channel, the other end of its socket, and what became known of it."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        ours.settimeout(0)
        self.theirs.settimeout(0)
        self.taken: list[FromWorker] = []
        self.losses = 0
        self.known = asyncio.Event()
        self.channel = Channel(ours, self._take, self._lost)

    def _take(self, message: FromWorker) -> None:
        self.taken.append(message)
        self.known.set()

    def _lost(self) -> None:
        self.losses += 1
        self.known.set()

    async def read(self, count: int) -> list[object]:
        """So many messages that were sent."""
        reader, found = MessageReader(), list[object]()
        loop = asyncio.get_running_loop()
        while len(found) < count:
            found += reader.read(await loop.sock_recv(self.theirs, 1 << 20))
        return found


@pytest.fixture
async def ends() -> AsyncIterator[Ends]:
    found = Ends()
    yield found
    found.channel.close()
    found.theirs.close()


async def test_messages_are_sent_in_order(ends: Ends) -> None:
    sent = [Forget(number) for number in range(MANY)]  # more than the system keeps of a socket
    for message in sent:
        ends.channel.send(message)
    assert await ends.read(MANY) == sent


async def test_what_has_time_is_sent_with_the_next_message(ends: Ends) -> None:
    ends.channel.send(Forget(1), now=False)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(BlockingIOError):
        ends.theirs.recv(1)
    ends.channel.send(Forget(2))
    assert await ends.read(2) == [Forget(1), Forget(2)]


async def test_much_is_sent_even_if_it_has_time(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "_PIECE", 10)
    ends.channel.send(Forget(1), now=False)
    assert await ends.read(1) == [Forget(1)]


async def test_a_descriptor_goes_with_its_message(ends: Ends) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            ends.channel.send(Forget(1), handed=theirs.fileno())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        text, (handed,), _, _ = socket.recv_fds(ends.theirs, 1000, 2)
        assert list(MessageReader().read(text)) == [Forget(1)]
        with socket.socket(fileno=handed) as other:
            ours.sendall(b"known")
            assert other.recv(10) == b"known"
        assert ours.recv(1) == b""  # no other end is left open here


async def test_a_descriptor_that_is_never_sent_is_closed(ends: Ends) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            ends.channel.send(Forget(1), handed=theirs.fileno())
        ends.channel.close()
        assert ours.recv(1) == b""


async def test_too_much_is_refused(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "LIMIT", 10)
    ends.channel.send(Forget(1), now=False)
    with pytest.raises(ChannelFullError):
        ends.channel.send(Forget(2), now=False)


async def test_messages_are_taken(ends: Ends) -> None:
    ends.theirs.send(written(Failed(1, "why")))
    await ends.known.wait()
    assert ends.taken == [Failed(1, "why")]


async def test_the_end_of_the_other_one_is_told_once(ends: Ends) -> None:
    ends.theirs.close()
    await ends.known.wait()
    ends.channel.close()
    assert (ends.losses, ends.taken) == (1, [])


async def test_it_is_told_to_one_who_writes(ends: Ends) -> None:
    loop = asyncio.get_running_loop()
    loop.remove_reader(ends.channel.socket)  # the loop would find out by either
    ends.theirs.close()
    ends.channel.send(Forget(1))
    await ends.known.wait()
    assert ends.losses == 1


async def test_unread_messages_do_not_hide_the_end(ends: Ends) -> None:
    ends.channel.send(Forget(1))
    await ends.read(1)
    ends.channel.send(Forget(2))
    await asyncio.sleep(0)
    ends.theirs.close()  # with what it has not read: the system resets the connection
    await ends.known.wait()
    assert ends.losses == 1


async def test_nothing_is_told_of_ones_own_end(ends: Ends) -> None:
    ends.channel.close()
    ends.channel.close()
    ends.channel.send(Forget(1))
    assert ends.theirs.recv(1) == b""
    assert ends.losses == 0


async def test_a_socket_that_is_not_ready_after_all_is_tried_again(ends: Ends) -> None:
    ends.channel.read()
    assert (ends.taken, ends.losses) == ([], 0)
    while True:
        try:
            ends.channel.socket.send(b"\0\0\0\0" * 1000)
        except BlockingIOError:
            break
    ends.channel.send(Forget(1), now=False)
    ends.channel.write()
    assert ends.losses == 0


async def test_nothing_is_sent_of_a_message_whose_descriptor_cannot_be_handed_over(ends: Ends) -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        ends.channel.send(Forget(1), handed=1 << 20)
    ends.channel.send(Forget(2))
    assert await ends.read(1) == [Forget(2)]


class _FailingSocket(socket.socket):
    """A socket for whose messages the system has no memory."""

    def sendmsg(self, *_: object) -> int:  # type: ignore[override]
        raise OSError(errno.ENOBUFS, "no buffer space")

    def recv(self, *_: object) -> bytes:
        raise OSError(errno.ENOMEM, "no memory")


@pytest.mark.parametrize("reading", [True, False])
async def test_a_socket_that_fails_counts_as_the_end_of_the_other_one(reading: bool) -> None:  # noqa: FBT001 -- a case
    """The loop would call it again and again."""
    ours, theirs = socket.socketpair()
    failing, losses = _FailingSocket(fileno=ours.detach()), list[None]()
    with theirs:
        channel = Channel(failing, lambda _: None, lambda: losses.append(None))
        if reading:
            theirs.send(b"a")
        else:
            channel.send(Forget(1))
        await asyncio.sleep(0.01)
    assert (len(losses), failing.fileno()) == (1, -1)
