"""The HPAIntents of a cluster, and the namespaces in which they hold."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.objects.consumer import Consumer
from webhook.placement.objects.intent import Intent, Intents

API = "Deployment/api-server"
CORE = "StatefulSet/core-fwall"


def intent(name: str = "fwall", *owners: str, namespace: str = "edge") -> Intent:
    return Intent(namespace, name, tuple(Consumer(owner, "apps", owner) for owner in owners))


def intents(*found: Intent) -> Intents:
    known = Intents()
    for one in found:
        known.put(one)
    return known


def holding(known: Intents, owner: str, namespace: str = "edge") -> list[str]:
    return [one.name for one in known.holding(namespace, owner)]


def test_an_intent_is_found_by_its_name() -> None:
    found = intent()
    assert intents(found).named("edge", "fwall") is found


@pytest.mark.parametrize(("namespace", "name"), [("edge", "other"), ("default", "fwall")])
def test_another_name_or_namespace_is_another_intent(namespace: str, name: str) -> None:
    assert intents(intent()).named(namespace, name) is None


def test_intents_are_found_by_their_consumers_in_the_order_of_names() -> None:
    known = intents(intent("b", API, CORE), intent("a", API), intent("c", CORE), intent("d", API, namespace="default"))
    assert holding(known, API) == ["a", "b"]


def test_an_intent_that_consumes_a_workload_twice_is_found_once() -> None:
    assert holding(intents(intent("a", API, API)), API) == ["a"]


def test_a_workload_that_no_intent_names_has_none() -> None:
    assert holding(intents(intent("a", API)), CORE) == []


def test_the_names_of_a_namespace_are_known() -> None:
    known = intents(intent("a"), intent("b"), intent("c", namespace="default"))
    assert ([*known.names("edge")], [*known.names("nowhere")]) == (["a", "b"], [])


def test_they_are_counted() -> None:
    assert len(intents(intent("a"), intent("b"), intent("a"), intent("a", namespace="default"))) == 3


def test_a_changed_intent_takes_the_place_of_the_old_one() -> None:
    known = intents(intent("a", API), intent("a", CORE))
    assert (holding(known, API), holding(known, CORE)) == ([], ["a"])


def test_an_intent_that_is_gone_is_not_found() -> None:
    known = intents(intent("a", API, API), intent("b", API))
    known.drop("edge", "a")
    assert (known.named("edge", "a"), holding(known, API), len(known)) == (None, ["b"], 1)


def test_nothing_is_left_of_the_last_one() -> None:
    known = intents(intent("a", API))
    known.drop("edge", "a")
    assert ([*known.names("edge")], holding(known, API), len(known)) == ([], [], 0)


def test_a_namespace_is_enabled_until_it_is_disabled() -> None:
    known = Intents()
    known.enable("edge")
    enabled = {*known.enabled}
    known.disable("edge")
    assert (enabled, known.enabled) == ({"edge"}, set())


NEWS: dict[str, tuple[Callable[[Intents], None], bool]] = {
    "a new intent": (lambda known: known.put(intent("new")), True),
    "a changed intent": (lambda known: known.put(intent("fwall", CORE)), True),
    "an intent that goes": (lambda known: known.drop("edge", "fwall"), True),
    "an intent that was not there": (lambda known: known.drop("edge", "other"), False),
    "an intent of a namespace without any": (lambda known: known.drop("default", "fwall"), False),
    "a namespace that is enabled": (lambda known: known.enable("other"), True),
    "a namespace that was enabled already": (lambda known: known.enable("edge"), False),
    "a namespace that is disabled": (lambda known: known.disable("edge"), True),
    "a namespace that was not enabled": (lambda known: known.disable("other"), False),
}


@pytest.mark.parametrize(("happens", "news"), NEWS.values(), ids=NEWS)
def test_the_version_counts_changes(happens: Callable[[Intents], None], news: bool) -> None:  # noqa: FBT001 -- a column
    known = intents(intent("fwall", API))
    known.enable("edge")
    before = known.version
    happens(known)
    assert (known.version > before) == news


STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from("ab"), st.lists(st.sampled_from([API, CORE]), max_size=3)), max_size=12
)


@given(STEPS)
def test_what_is_known_is_what_was_put_last(steps: list[tuple[bool, str, list[str]]]) -> None:
    known, wanted = Intents(), dict[str, Intent]()
    for put, name, owners in steps:
        if put:
            wanted[name] = intent(name, *owners)
            known.put(wanted[name])
        else:
            wanted.pop(name, None)
            known.drop("edge", name)
    for owner in (API, CORE):
        assert holding(known, owner) == sorted(
            name for name, one in wanted.items() if owner in {consumer.owner for consumer in one.consumers}
        )
    assert {name: known.named("edge", name) for name in known.names("edge")} == wanted


def test_what_a_template_stands_for_is_found_among_all_intents_of_the_namespace() -> None:
    gpu, nic = DescribedDevices("gpu.example.com"), DescribedDevices("nic.example.com")
    of_gpu, of_nic = (
        Hardware("device", "", device=DeviceSource(template=each.template, described=each)) for each in (gpu, nic)
    )
    first = Intent("edge", "first", (Consumer(API, "apps", API), Consumer(CORE, "apps", CORE, hardware=(of_gpu,))))
    last = Intent("edge", "last", (Consumer(API, "apps", API, hardware=(of_gpu, of_nic)),))
    known = intents(first, last)
    assert known.described("edge", gpu.template) == gpu
    assert known.described("edge", nic.template) == nic
    assert known.described("default", gpu.template) is None
