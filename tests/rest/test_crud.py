"""What each operation answers about intents, consumers and requirements, over a real server and a real file."""

import pytest

from tests.rest.rest_server import (
    CONSUMERS,
    CORE,
    FWALL,
    INTENTS,
    NOTES,
    REQUIREMENTS,
    RestClient,
    consumer,
    intent,
    requirement,
)

pytestmark = pytest.mark.integration

CPU = f"{REQUIREMENTS}/core-fwall-cpu-requirement"
GROUP_NAMES = "my-proj1/my-capp1/v1.0/my-dig1"

OF_CORE = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core-fwall", "container-name": "palo-alto-e3000"}
SHOWN_CONSUMER = {"metadata": {"name": "core-fwall"} | NOTES, "spec": {"consumer": OF_CORE}}
SHOWN_INTENT = {
    "metadata": {"name": "fwall-hpa-intent"} | NOTES,
    "spec": {"app": "fwall", "appName": "fwall", "resourceConsumers": []},
}
SHOWN_REQUIREMENT = {
    "metadata": {"name": "core-fwall-cpu-requirement"} | NOTES,
    "spec": {"name": "cpu", "mandatory": True, "allocatable": True, "requests": 4, "limits": 4},
}


async def test_what_is_created_is_answered_with_its_place(client: RestClient) -> None:
    reply = await client.post(INTENTS, intent())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_INTENT, FWALL)
    reply = await client.post(CONSUMERS, consumer())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_CONSUMER, CORE)
    reply = await client.post(REQUIREMENTS, requirement())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_REQUIREMENT, CPU)


async def test_elements_are_read_by_path_and_by_parameter(client: RestClient) -> None:
    await client.create_all()
    whole = {**SHOWN_INTENT, "spec": {**SHOWN_INTENT["spec"], "resourceConsumers": [SHOWN_CONSUMER]}}  # type: ignore[dict-item]
    for path in (FWALL, f"{INTENTS}?intent=fwall-hpa-intent", f"{FWALL}/"):
        assert (await client.get(path)).json == whole
    for path in (CORE, f"{CONSUMERS}?consumer=core-fwall"):
        assert (await client.get(path)).json == SHOWN_CONSUMER
    for parameter in ("resource", "requirement"):
        reply = await client.get(f"{REQUIREMENTS}?{parameter}=core-fwall-cpu-requirement")
        assert reply.json == SHOWN_REQUIREMENT
    assert (await client.get(CPU)).json == SHOWN_REQUIREMENT


async def test_lists(client: RestClient) -> None:
    assert (await client.get(INTENTS)).json == []
    await client.create_all()
    await client.post(INTENTS, intent("analytics", app="analytics"))
    assert [each["metadata"]["name"] for each in (await client.get(INTENTS)).json] == ["analytics", "fwall-hpa-intent"]
    assert (await client.get(CONSUMERS)).json == [SHOWN_CONSUMER]
    assert (await client.get(REQUIREMENTS)).json == [SHOWN_REQUIREMENT]


async def test_another_group_has_intents_of_its_own(client: RestClient) -> None:
    await client.create_all()
    other = INTENTS.replace("v1.0", "v1.1")
    assert (await client.get(other)).json == []
    assert (await client.post(other, intent())).status == 201


async def test_a_put_replaces(client: RestClient) -> None:
    await client.create_all()
    changed = requirement("core-fwall-cpu-requirement", name="cpu", requests=2, mandatory=False, weight=3)
    reply = await client.put(CPU, changed)
    shown = {"name": "cpu", "mandatory": False, "weight": 3, "allocatable": True, "requests": 2}
    assert (reply.status, reply.json["spec"]) == (200, shown)
    assert (await client.get(CPU)).json["spec"] == shown
    assert (await client.delete(CPU)).status == 204
    reply = await client.put(CORE, consumer(container="palo-alto-e3000"))
    assert (reply.status, reply.json) == (200, SHOWN_CONSUMER)
    assert (await client.delete(CORE)).status == 204
    reply = await client.put(FWALL, intent(app="firewall"))
    assert (reply.status, reply.json["spec"]["appName"]) == (200, "firewall")


async def test_what_is_deleted_is_gone(client: RestClient) -> None:
    await client.create_all()
    for path in (CPU, CORE, FWALL):
        reply = await client.delete(path)
        assert (reply.status, reply.json) == (204, None)
        assert (await client.get(path)).status == 404
        assert (await client.delete(path)).status == 404


async def test_what_has_children_stays(client: RestClient) -> None:
    await client.create_all()
    why = "cannot be deleted while it has 1 resource consumer (core-fwall): delete these first"
    reply = await client.delete(FWALL)
    assert (reply.status, reply.errors) == (409, [("hpa-intent-name", f"HPA intent fwall-hpa-intent {why}")])
    reply = await client.put(CORE, consumer())
    why = "cannot be changed while it has 1 resource requirement (core-fwall-cpu-requirement): delete these first"
    assert (reply.status, reply.errors) == (409, [("consumer-name", f"resource consumer core-fwall {why}")])


async def test_a_name_is_taken_once(client: RestClient) -> None:
    await client.create_all()
    for path, body, rule in (
        (INTENTS, intent(), 'there is an HPA intent "fwall-hpa-intent" already'),
        (CONSUMERS, consumer(), 'there is a resource consumer "core-fwall" already'),
        (REQUIREMENTS, requirement(), 'there is a resource requirement "core-fwall-cpu-requirement" already'),
    ):
        reply = await client.post(path, body)
        assert (reply.status, reply.errors) == (409, [("metadata.name", rule)])


async def test_what_is_missing_is_named(client: RestClient) -> None:
    await client.create_all()
    no_intent = f'"nope": deployment intent group {GROUP_NAMES} has no such HPA intent'
    nope = f"{INTENTS}/nope/hpa-resource-consumers"
    for method, path, body in (
        ("GET", f"{INTENTS}/nope", None),
        ("DELETE", f"{INTENTS}/nope", None),
        ("PUT", f"{INTENTS}/nope", intent("nope")),
        ("GET", nope, None),
        ("POST", nope, consumer()),
        ("GET", f"{nope}/core-fwall", None),
        ("POST", f"{nope}/core-fwall/resource-requirements", requirement()),
    ):
        reply = await client.ask(method, path, body)
        assert (reply.status, reply.errors) == (404, [("hpa-intent-name", no_intent)])
    reply = await client.get(f"{CONSUMERS}/core-fwal")
    rule = '"core-fwal": HPA intent fwall-hpa-intent has no such resource consumer, did you mean core-fwall?'
    assert (reply.status, reply.errors) == (404, [("consumer-name", rule)])
    reply = await client.post(f"{CONSUMERS}/x/resource-requirements", requirement())
    rule = '"x": HPA intent fwall-hpa-intent has no such resource consumer; it has core-fwall'
    assert (reply.status, reply.errors) == (404, [("consumer-name", rule)])
    await client.delete(CPU)
    reply = await client.get(CPU)
    rule = '"core-fwall-cpu-requirement": resource consumer core-fwall has no such resource requirement; it has none'
    assert (reply.status, reply.errors) == (404, [("requirement-name", rule)])


async def test_a_put_does_not_rename(client: RestClient) -> None:
    await client.create_all()
    reply = await client.put(CPU, requirement("other"))
    rule = '"other" is not the name in the path, core-fwall-cpu-requirement; a new name is a new element'
    assert (reply.status, reply.errors) == (400, [("metadata.name", rule)])
