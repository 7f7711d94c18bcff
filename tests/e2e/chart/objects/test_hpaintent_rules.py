"""The API server refuses HPAIntents that break a rule of one object, and stores valid ones unchanged."""

import http
import json
from typing import Final

import pytest

from tests.e2e.chart.objects.hostpools import SPACE
from tests.e2e.chart.objects.intents import CPU, FIRST, WORKLOAD, Spec, intent, of, path, samples
from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.polling import until
from webhook.placement.objects.intent import read_intent

INTENTS: Final = path(SPACE)


@pytest.fixture(scope="module")
def intents(pools: Api) -> Api:
    """An API server that knows HPAIntents, too."""
    until(lambda: pools.send("GET", INTENTS).code == http.HTTPStatus.OK, "HPAIntents are served")
    return pools


def ask(api: Api, spec: object) -> Object:
    """What would be stored."""
    made: Object = api.call("POST", f"{INTENTS}?dryRun=All", intent(spec)).body
    return made


FULL: Final[Spec] = of(*[{"name": f"n-{at}", "spec": CPU} for at in range(64)])["consumers"][0]
GOOD: Final[dict[str, Spec]] = {
    **samples(),
    "nothing at all": {},
    "no consumers yet": {"app": "fwall", "consumers": []},
    "no requirements yet": of(),
    "an amount as text": of({"name": "cpu", "requests": "500m", "limits": "1.5"}),
    "equal amounts": of({"name": "cpu", "requests": 2, "limits": 2}),
    "text that only the webhook compares": of({"name": "cpu", "requests": "1", "limits": 2}),
    "a label": of({"name": "disktype", "value": "ssd"}),
    "a label that is empty": of({"name": "disktype", "value": "", "allocatable": False}),
    "as EMCO's programs write it": of({"spec": {"allocatable": True, "resource": {"name": "cpu", "requests": 1}}}),
    "a label as EMCO's programs write it": of({"spec": {"allocatable": False, "resource": {"key": "a", "value": "b"}}}),
    "metadata as EMCO has it": of({"metadata": {"name": "n", "userData1": "x"}, "spec": CPU}, metadata={"name": "c"}),
    "both spellings, which say the same": {
        **of(
            {"name": "cpu", "key": "cpu", "limits": 1, "resource": {"name": "cpu", "limits": 1}, "container": "c"},
            workload={**WORKLOAD, "container": "c", "container-name": "c"},
            container="c",
        ),
        "app": "a",
        "appName": "a",
    },
    "on several clusters": of(CPU) | {"replicationCount": 1000},
    "the largest": {"consumers": [{**FULL, "name": f"c-{at}"} for at in range(64)]},
}

BAD: Final[dict[str, tuple[Spec, str]]] = {
    "65 consumers": (
        {"consumers": [of(CPU)["consumers"][0] | {"name": f"c-{at}"} for at in range(65)]},
        "spec.consumers: Too many: 65",
    ),
    "65 requirements": (of(*[CPU] * 65), "spec.consumers[0].requirements: Too many: 65"),
    "no workload": (
        {"consumers": [{"name": "x"}]},
        "spec.consumers[0]: Required value: must name a workload: consumer, or apiVersion, kind and name",
    ),
    "half a workload": (of(workload={"kind": "Deployment", "name": "x"}), "consumer.apiVersion: Required value"),
    "a workload without a name": (of(workload={**WORKLOAD, "name": ""}), "consumer.name: Invalid value"),
    "neither an amount nor a value": (
        of({"name": "cpu"}),
        f"{FIRST}: Required value: needs requests or limits, or else the value of a node label",
    ),
    "the same, below spec": (
        of({"name": "n", "spec": {"name": "cpu"}}),
        f"{FIRST}.spec: Required value: needs requests or limits, or else the value of a node label",
    ),
    "an amount with a value": (
        of({**CPU, "allocatable": True, "value": "x"}),
        f"{FIRST}: Forbidden: value belongs to a node label, and this requirement is allocatable",
    ),
    "a label without a value": (
        of({"name": "disktype", "allocatable": False}),
        f"{FIRST}: Required value: is not allocatable, so it needs the value of a node label",
    ),
    **{
        f"a label with {field}": (
            of({"name": "disktype", "value": "ssd", field: said}),
            f"{FIRST}: Forbidden: requests, limits and units belong to a resource, and this requirement is not",
        )
        for field, said in (("requests", 1), ("limits", "1"), ("units", "MB"))
    },
    "a label with limits below resource": (
        of({"name": "disktype", "value": "ssd", "resource": {"limits": 1}}),
        f"{FIRST}: Forbidden: requests, limits and units belong to a resource",
    ),
    "no name": (of({"limits": 1}), f"{FIRST}: Required value: needs a name: of a resource, or of a node label"),
    "an empty name": (of({"name": "", "limits": 1}), f"{FIRST}.name: Invalid value"),
    "more than the limit": (
        of({"name": "cpu", "requests": 2, "limits": 1}),
        f"{FIRST}.requests: Invalid value: is more than limits",
    ),
    "more than the limit, below resource below spec": (
        of({"spec": {"resource": {"name": "cpu", "requests": 2, "limits": 1}}}),
        f"{FIRST}.spec.resource.requests: Invalid value: is more than limits",
    ),
    "half a core as a number": (of({"name": "cpu", "limits": 0.5}), f"{FIRST}.limits: Invalid value"),
    "an unknown unit": (of({"name": "memory", "limits": 1, "units": "mb"}), f'{FIRST}.units: Unsupported value: "mb"'),
    "no weight": (of({**CPU, "weight": 0}), f"{FIRST}.weight: Invalid value: 0"),
    "too heavy": (of({**CPU, "weight": 11}), f"{FIRST}.weight: Invalid value: 11"),
    "a value that is too long": (of({"name": "a", "value": "x" * 64}), f"{FIRST}.value: Too long"),
    "two names": (
        of({"name": "cpu", "key": "memory", "limits": 1}),
        f"{FIRST}.key: Invalid value: means the same as name, and must have the same value",
    ),
    "two amounts": (
        of({"name": "cpu", "limits": 1, "resource": {"limits": 2}}),
        f"{FIRST}.resource: Invalid value: must agree with the fields beside it",
    ),
    "two containers of a requirement": (
        of({**CPU, "container": "a", "container-name": "b"}),
        f"{FIRST}.container: Invalid value: means the same as container-name, and must have the same value",
    ),
    "two containers of a workload": (
        of(workload={**WORKLOAD, "container": "a", "container-name": "b"}),
        "consumer.container: Invalid value: means the same as container-name, and must have the same value",
    ),
    "two containers of a consumer": (
        of(workload={**WORKLOAD, "container": "a"}, container="b"),
        "spec.consumers[0].consumer: Invalid value: must agree with the fields beside it",
    ),
    "two applications": (
        {"app": "a", "appName": "b"},
        "spec.appName: Invalid value: means the same as app, and must have the same value",
    ),
    "on no cluster": ({"replicationCount": 0}, "spec.replicationCount: Invalid value: 0"),
    "on too many clusters": ({"replicationCount": 1001}, "spec.replicationCount: Invalid value: 1001"),
    "more beside a spec": (
        of({"name": "n", "mandatory": True, "spec": CPU}),
        f"{FIRST}: Forbidden: with a spec of its own a requirement has a name beside it, and nothing else",
    ),
    "two consumers of one name": (
        {"consumers": [{"consumer": WORKLOAD}, {"name": "api-server", "consumer": {**WORKLOAD, "name": "x"}}]},
        "spec.consumers: Invalid value: two consumers have the same name",
    ),
}


def refused_by_admission(spec: Spec) -> bool:
    return bool(read_intent(SPACE, "asked", spec).problems)


@pytest.mark.parametrize("spec", GOOD.values(), ids=GOOD)
def test_a_good_intent_is_taken_by_both_as_it_stands(intents: Api, spec: Spec) -> None:
    assert ask(intents, spec)["spec"] == spec
    assert not refused_by_admission(spec)


@pytest.mark.parametrize(("spec", "said"), BAD.values(), ids=BAD)
def test_a_bad_intent_is_refused_at_the_field(intents: Api, spec: Spec, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(intents, spec)
    assert (refused.value.code, said in refused.value.message) == (422, True), refused.value.message


OF_THE_SCHEMA: Final = {"half a core as a number", "a value that is too long"}
"""What types and lengths of JSON forbid, and an annotation may say."""


@pytest.mark.parametrize("spec", [spec for name, (spec, _) in BAD.items() if name not in OF_THE_SCHEMA])
def test_what_the_api_server_refuses_admission_refuses_as_well(spec: Spec) -> None:
    assert refused_by_admission(spec)


@pytest.mark.usefixtures("intents")
def test_kubectl_refuses_an_unknown_field(unattended: BarePlane) -> None:
    asked = json.dumps(intent(of({"namee": "cpu"})))
    done = unattended.kubectl("apply", "--dry-run=server", "-f", "-", stdin=asked)
    assert 'unknown field "spec.consumers[0].requirements[0].namee"' in done.stderr


WORDS: Final = ("sthpa", "hpaintent", "hpaintents", "streamshpaintent", "streamshpaintents", "streams")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.usefixtures("intents")
def test_kubectl_finds_intents_by(unattended: BarePlane, word: str) -> None:
    done = unattended.kubectl("get", word, "--namespace", SPACE)
    assert done.returncode == 0, done.stderr


def test_kubectl_shows_what_an_intent_is_for(unattended: BarePlane, intents: Api) -> None:
    intents.call("POST", INTENTS, intent(samples()["fwall-hpa-intent"], "shown"))
    head, row = unattended.kubectl("get", "sthpa", "shown", "--namespace", SPACE).stdout.splitlines()
    assert head.split() == ["NAME", "APP", "FIRST", "CONSUMER", "AGE"]
    assert row.split()[:3] == ["shown", "fwall", "core-fwall"]
