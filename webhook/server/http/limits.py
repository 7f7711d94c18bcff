"""Limits of the HTTP ports: every bound on what a client may send, hold or keep waiting (``docs/operations.md``)."""

from msgspec import Struct

KIB = 1024
MIB = 1024 * KIB


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """Limits of one listening port; sizes in bytes, times in seconds."""

    body: int = 8 * MIB
    """Largest body: the API server sends an object and the old object of up to 3 MiB each, and 2 MiB are left for the
    envelope."""

    small_body: int = 64 * KIB
    """Largest body that is read without a reservation: usual reviews of pods have 4 to 50 KB. All connections together
    hold at most 64 MB of small bodies."""

    bodies: int = 32 * MIB
    """All larger bodies that are read or judged at a time. A body that is being judged is in memory three
    times, as bytes, as decoded values and as an answer: some 60 MB in all."""

    share: int = 16 * MIB
    """The part of ``bodies`` that one address may take: two of the largest bodies."""

    room_seconds: float = 2.0
    """How long a larger body waits for room: less than the 3 s that the API server waits for an answer (the chart's
    default)."""

    body_rate: int = 4 * MIB
    """Bytes a second at which a larger body has to arrive, once there is room for it and after one second of grace,
    because it takes room from other bodies meanwhile. A network of 100 Mbit/s carries three times as much."""

    read_ahead: int = 32 * KIB
    """Bytes of a body that are read before the handler asks for them: aiohttp stops at twice as many."""

    receive_buffer: int = 64 * KIB
    """Bytes of a connection that the kernel holds until they are read, and that are read at a time. TLS keeps a buffer
    of that size as long as the connection lasts."""

    unsent: int = 64 * KIB
    """Bytes of unread answers on a connection at which the server stops reading from that connection."""

    header_line: int = 8190
    """Bytes of one header line, and of one header field: aiohttp's default. The API server's longest header field,
    User-Agent, has some 100."""

    header_fields: int = 64
    """Header fields of one request; the API server sends eight."""

    header: int = 32 * KIB
    """Bytes of a whole header: the two limits above would allow half a mebibyte."""

    header_seconds: float = 10.0
    """Time from the opening of a connection, or from the first byte of a later request, to the end of the header; also
    how long a client may leave an answer unread. A third of the API server's longest time-out for webhooks, 30 s."""

    handshake_seconds: float = 10.0
    """Time for a TLS handshake, which takes two round trips: as long as for a header."""

    farewell_seconds: float = 2.0
    """Time for a client to take notice of a connection's end: TLS closure, and reading an early refusal while its body
    is still being sent."""

    connections: int = 1000
    """Open connections, handshakes among them; each costs about 60 KB with TLS, and up to 130 KB more once it was read
    from: 190 MB when all are taken."""

    patience_seconds: float = 1.0
    """How long a body may be arriving before its connection can be ended for a new one, when all connections are
    taken."""

    backlog: int = 1024
    """Connections that the kernel holds until the server accepts them."""

    keep_alive_seconds: float = 3630.0
    """How long an idle connection is kept. The API server closes an idle connection after 90 s, proxies do so after up
    to 3,600 s; the client must close first, because its next request could otherwise race with the closing. 30 s are to
    spare."""

    deadline_seconds: float = 10.0
    """Longest time for one review: what the API server allows by default (``timeoutSeconds``)."""

    margin_seconds: float = 0.2
    """How much earlier than the API server the webhook gives a review up, so that the reason reaches the API server."""

    finish_seconds: float = 20.0
    """Time for running requests when the process ends; with 5 s of draining it stays below Kubernetes' 30 s grace."""

    def arrival(self, size: int) -> float:
        """Seconds within which a larger body of ``size`` bytes has to arrive."""
        return 1.0 + size / self.body_rate

    def allowance(self, asked: float | None) -> float:
        """Seconds for deciding a review whose caller waits ``asked`` seconds (``None``: the caller did not say)."""
        limit = self.deadline_seconds if asked is None else min(asked, self.deadline_seconds)
        return limit - min(self.margin_seconds, limit / 2)


REVIEWS = Limits()
"""Limits of the port for reviews."""

HEALTH = Limits(body=0, connections=100, keep_alive_seconds=75.0)
"""Limits of the port for health: the kubelet's probes, and a few scrapers that ask every minute at most."""
