"""Who may ask: processes of this machine, holders of a token, and how often."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.fake_clock import FakeClock
from webhook.rest import access
from webhook.rest.access import LoopbackAccess, TokenAccess, listens_on_loopback
from webhook.rest.request_error import RequestError
from webhook.rest.request_rate import ADDRESSES, RequestRate

TOKEN = "a-token-of-sixteen"


def request(**headers: str) -> Mock:
    return Mock(headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1:8090", "localhost:80", "LOCALHOST", "[::1]:8090", "[::1]"])
async def test_this_machine_is_asked_by_its_own_names(host: str) -> None:
    await LoopbackAccess().identify(request(Host=host))


@pytest.mark.parametrize("host", ["", "evil.example:8090", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil"])
async def test_a_page_that_a_browser_was_tricked_into_is_refused(host: str) -> None:
    with pytest.raises(RequestError, match="is not a name of this machine") as refused:
        await LoopbackAccess().identify(request(Host=host))
    assert refused.value.status == 403


@pytest.mark.parametrize(
    ("host", "only"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("no.invalid", False)],  # noqa: S104 -- not bound
)
def test_addresses_that_only_this_machine_reaches(host: str, only: bool) -> None:  # noqa: FBT001
    assert listens_on_loopback(host) is only


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"\n{TOKEN}\n  another-token-of-more \n")
    return path


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer  {TOKEN} ", "Bearer another-token-of-more"])
async def test_every_token_of_the_file_counts(file: Path, header: str) -> None:
    await TokenAccess(file).identify(request(Authorization=header))


@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        ({}, "is missing: send Authorization: Bearer TOKEN"),
        ({"Authorization": TOKEN}, "is missing: send Authorization: Bearer TOKEN"),
        ({"Authorization": f"Basic {TOKEN}"}, "is missing: send Authorization: Bearer TOKEN"),
        ({"Authorization": "Bearer "}, "is missing: send Authorization: Bearer TOKEN"),
        ({"Authorization": f"Bearer {TOKEN}x"}, "is not a token that this server accepts"),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, "is not a token that this server accepts"),
    ],
)
async def test_what_is_not_a_token(file: Path, headers: dict[str, str], rule: str) -> None:
    with pytest.raises(RequestError) as refused:
        await TokenAccess(file).identify(request(**headers))
    assert (refused.value.status, refused.value.headers) == (401, {"WWW-Authenticate": "Bearer"})
    assert str(refused.value) == f"header Authorization: {rule}"


def rewrite(file: Path, text: str | None) -> None:
    """Another text at another time; without one there is no file any more."""
    if text is None:
        file.unlink()
        return
    file.write_text(text)
    os.utime(file, ns=(0, len(text)))


async def test_a_new_token_counts_as_soon_as_it_is_in_the_file(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokens = TokenAccess(file)
    for text, last in (("", TOKEN), ("short", TOKEN), ("the-new-token-of-this", "the-new-token-of-this")):
        rewrite(file, text)
        await tokens.identify(request(Authorization=f"Bearer {last}"))
    rewrite(file, None)
    await tokens.identify(request(Authorization="Bearer the-new-token-of-this"))
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == f"the tokens stay as they were, because the file cannot be used: {file} has no token"
    assert len(told) == 3
    assert not any(TOKEN in text for text in told)


@pytest.mark.parametrize("text", ["short", "with a blank in it", "with-a-control-\x1b", "with-an-umlaut-\u00fc-in-it"])
def test_tokens_that_are_refused_are_not_shown(file: Path, text: str) -> None:
    file.write_text(f"{TOKEN}\n{text}\n")
    with pytest.raises(ValueError, match=r"^token 2 of .*tokens is not 16 or more printable ASCII characters") as wrong:
        TokenAccess(file)
    assert text not in str(wrong.value)


async def test_holders_may_do_everything(file: Path) -> None:
    action = access.Action("delete", Mock(), "i")
    for control in (LoopbackAccess(), TokenAccess(file)):
        await control.authorize(Mock(), action)
        await control.authorize_path(Mock(), "/metrics")


def test_an_address_has_its_rate_and_no_influence_on_others() -> None:
    clock = FakeClock()
    rate = RequestRate(10, clock=clock)
    assert [rate.wait("a") for _ in range(11)] == [0] * 10 + [1]
    assert rate.wait("b") == 0
    clock.now += 0.1
    assert [rate.wait("a"), rate.wait("a")] == [0, 1]
    clock.now += 5
    assert [rate.wait("a") for _ in range(11)] == [0] * 10 + [1]


def test_a_rate_below_one() -> None:
    clock = FakeClock()
    rate = RequestRate(0.1, clock=clock)
    assert [rate.wait("a"), rate.wait("a")] == [0, 10]
    clock.now += 9
    assert rate.wait("a") == 1
    clock.now += 1.1
    assert rate.wait("a") == 0


def test_without_a_rate_there_is_no_bound() -> None:
    rate = RequestRate(0)
    assert {rate.wait("a") for _ in range(100)} == {0}


def test_addresses_that_are_quiet_are_forgotten_first() -> None:
    clock = FakeClock()
    rate = RequestRate(1, clock=clock)
    for number in range(ADDRESSES):
        assert rate.wait(str(number)) == 0
    assert rate.wait("0") == 1
    assert rate.wait("new") == 0
    assert [rate.wait("0"), rate.wait("1")] == [1, 0]
