"""The benchmark through an API server, with small numbers: all requests are answered, and the counters add up."""

from collections.abc import Iterator
from datetime import date

import pytest

from bench.e2e import bindings
from bench.e2e.clients.load import clients
from bench.e2e.clients.orders import Order
from bench.e2e.clients.variants import OURS, VARIANTS
from bench.e2e.cluster import Cluster, cluster
from bench.e2e.creations import report
from bench.e2e.creations.observation import Observation, observe
from bench.e2e.creations.options import Options
from bench.e2e.creations.results import results
from bench.e2e.creations.rounds import Slot
from bench.trouble import Trouble

TINY = Options(nodes=20, rounds=2, pods=40, singles=8, clients=4, seconds=1)
"""Two rounds, for which there is no time."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("bench"), TINY.nodes) as found:
        yield found


@pytest.fixture(scope="module")
def seen(running: Cluster) -> Observation:
    return observe(running, TINY, print)


@pytest.fixture(params=VARIANTS)
def turns(request: pytest.FixtureRequest, seen: Observation) -> list[Slot]:
    """Those of one variant after the other."""
    return [slot for slot in seen.slots if slot.variant == request.param]


def test_every_variant_has_a_turn_with_one_client_and_with_many(turns: list[Slot]) -> None:
    assert [slot.clients for slot in turns] == [1, TINY.clients]


def test_a_round_for_which_there_is_no_time_is_left_out(seen: Observation) -> None:
    assert {slot.round for slot in seen.slots} == {1}


def test_every_pod_that_was_sent_was_created_or_is_an_error(turns: list[Slot]) -> None:
    outcomes = [slot.outcome for slot in turns]
    assert [one.ok + sum(one.errors.values()) for one in outcomes] == [one.sent for one in outcomes]
    assert [one.sent for one in outcomes] == [TINY.singles, TINY.pods]


def test_every_pod_was_created(turns: list[Slot]) -> None:
    assert [slot.outcome.errors for slot in turns] == [{}, {}]


def test_pods_come_back_patched_or_as_they_were(turns: list[Slot]) -> None:
    patched = VARIANTS[turns[0].variant].patched
    assert all(slot.outcome.patched == (slot.outcome.ok if patched else 0) for slot in turns)


def test_the_api_server_asks_as_often_as_it_should(turns: list[Slot]) -> None:
    wanted = VARIANTS[turns[0].variant].reviews
    assert all(sum(one.count for one in slot.calls.values()) == wanted * slot.outcome.sent for slot in turns)


def test_every_server_is_watched(running: Cluster) -> None:
    few = {role: len(pids) for role, pids in running.pids.items() if role != "others of the plane"}
    assert few == {"API server": 1, "etcd": 1, "webhook": 1, "forwarder": 1, "echo": 1, "clients": 1}


def test_the_results_have_a_row_for_everybody(seen: Observation) -> None:
    page = report.render(results(seen, TINY), TINY, [], date(2026, 1, 31))
    rows = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines()]
    assert {variant.title: rows.count(variant.title) for variant in VARIANTS.values()} == dict.fromkeys(
        (variant.title for variant in VARIANTS.values()), 3
    )


@pytest.mark.usefixtures("seen")  # whose pods are gone by now
def test_a_name_that_is_taken_is_an_error_with_an_example(running: Cluster) -> None:
    order = Order("create", 3, 2, OURS.name, 50_000)
    assert running.load.carry_out(order).errors == {}
    again = running.load.carry_out(order)
    assert (again.sent, again.ok, again.errors) == (3, 0, {"409 AlreadyExists": 3})
    assert again.examples["409 AlreadyExists"].endswith("already exists")


def test_a_server_that_does_not_answer_is_an_error_with_an_example(running: Cluster) -> None:
    outcome = running.load.carry_out(Order("review", 2, 1, url="https://127.0.0.1:1/"))
    assert (outcome.sent, outcome.ok, list(outcome.errors.values())) == (2, 0, [2])


def test_clients_that_cannot_start_are_trouble(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("clients")
    with clients(folder / "missing", folder) as load, pytest.raises(Trouble) as trouble:
        load.carry_out(Order("cheap", 1, 1))
    assert "No such file or directory" in str(trouble.value)


def test_what_bindings_cost_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert bindings.main(["--rounds", "1", "--pods", "4"]) == 0
    rows = capsys.readouterr().out.splitlines()[-4:]
    assert [row.split(" | ")[0] for row in rows] == ["|", "|---|---|---|---|---|", "| without", "| strict"]
