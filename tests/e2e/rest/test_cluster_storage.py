"""Intents as objects of a real API server: two servers at once, lists in parts, the rules of the definition, rights."""

import http
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.chart.objects.intents import path
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.rest.conftest import grant
from tests.e2e.rest.hpa_process import ACCOUNT, GROUP, INTENTS, HpaProcess
from tests.rest.rest_server import consumer, intent, requirement

WRITERS: Final = 8
EACH: Final = 6


@pytest.fixture(scope="module")
def servers(plane: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HpaProcess, HpaProcess]]:
    folder = tmp_path_factory.mktemp("servers")
    where = ("--namespace", "{project}")
    with (
        HpaProcess(folder / "one", plane, ACCOUNT, *where) as one,
        HpaProcess(folder / "two", plane, ACCOUNT, *where) as two,
    ):
        yield one, two


def test_two_servers_that_write_at_once_lose_nothing(servers: tuple[HpaProcess, HpaProcess]) -> None:
    """Consumers of one intent are one object, which all of them change."""
    assert servers[0].ask("POST", INTENTS, intent("shared")).code == http.HTTPStatus.CREATED

    def write(writer: int) -> list[int]:
        place = f"{INTENTS}/shared/hpa-resource-consumers"
        return [servers[writer % 2].ask("POST", place, consumer(f"c-{writer}-{number}")).code for number in range(EACH)]

    with ThreadPoolExecutor(WRITERS) as pool:
        codes = [code for found in pool.map(write, range(WRITERS)) for code in found]
    assert set(codes) == {http.HTTPStatus.CREATED}
    for server in servers:
        listed = server.ask("GET", f"{INTENTS}/shared/hpa-resource-consumers").body
        names = sorted(each["metadata"]["name"] for each in listed)
        assert names == sorted(f"c-{writer}-{number}" for writer in range(WRITERS) for number in range(EACH))


def test_of_two_that_create_the_same_intent_one_is_told(servers: tuple[HpaProcess, HpaProcess]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for number in range(10):
            asked = [pool.submit(server.ask, "POST", INTENTS, intent(f"same-{number}")) for server in servers]
            assert sorted(each.result().code for each in asked) == [http.HTTPStatus.CREATED, http.HTTPStatus.CONFLICT]


def test_a_list_in_parts_and_as_a_whole(servers: tuple[HpaProcess, HpaProcess]) -> None:
    place = f"{GROUP.replace('dig', 'long')}/hpa-intents"
    names = [f"i-{number:03}" for number in range(130)]
    with ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda name: servers[0].ask("POST", place, intent(name)).code, names)
        assert set(made) == {http.HTTPStatus.CREATED}
    assert sorted(each["metadata"]["name"] for each in servers[1].ask("GET", place).body) == names
    assert len(servers[1].ask("GET", f"{place}?limit=7").body) == 7
    refused = servers[1].ask("GET", f"{place}?limit=7&continue=nonsense")
    assert (refused.code, refused.body["detail"]) == (400, "query continue: is not a token of this list")


def test_every_field_comes_back_from_the_object(plane: BarePlane, servers: tuple[HpaProcess, HpaProcess]) -> None:
    """What is written passes the rules of the definition, and people see EMCO's names."""
    one, two = servers
    body = {
        "metadata": {"name": "Full_1.0", "description": "d", "userData1": "u", "userData2": "v"},
        "spec": {"app": "a"},
    }
    assert one.ask("POST", INTENTS, body).code == http.HTTPStatus.CREATED
    place = f"{INTENTS}/Full_1.0/hpa-resource-consumers"
    assert one.ask("POST", place, consumer("core")).code == http.HTTPStatus.CREATED
    below = f"{place}/core/resource-requirements"
    wanted = [
        requirement("cpu", name="cpu", requests=4, limits=4),
        requirement("ram", name="memory", requests=200, units="MB"),
        requirement("gpu", name="nvidia.com/gpu", limits=1, mandatory=False, weight=9, container="side"),
        requirement("label", resource={"key": "disk", "value": "ssd"}, allocatable=False),
    ]
    made = [one.ask("POST", below, each) for each in wanted]
    assert [each.code for each in made] == [http.HTTPStatus.CREATED] * 4
    assert two.ask("GET", below).body == [each.body for each in made]
    assert two.ask("GET", f"{INTENTS}/Full_1.0").body["metadata"] == body["metadata"]
    (stored,) = (
        each for each in plane.admin.get(path("edge"))["items"] if each["metadata"]["name"].startswith("full-1-0-")
    )
    assert '"hpaIntent":"Full_1.0"' in stored["metadata"]["annotations"]["streams.ibm.com/emco"]


def test_what_others_put_on_the_object_stays(plane: BarePlane, servers: tuple[HpaProcess, HpaProcess]) -> None:
    servers[0].ask("POST", INTENTS, intent("marked"))
    (stored,) = (
        each for each in plane.admin.get(path("edge"))["items"] if each["metadata"]["name"].startswith("marked-")
    )
    where = f"{path('edge')}/{stored['metadata']['name']}"
    plane.admin.patch(where, {"metadata": {"labels": {"team": "a"}}, "spec": {"app": None, "appName": "fwall"}})
    assert servers[1].ask("PUT", f"{INTENTS}/marked", intent("marked", app="other")).code == http.HTTPStatus.OK
    after = plane.admin.get(where)
    assert (after["metadata"]["labels"]["team"], after["spec"]) == ("a", {"app": "other", "consumers": []})
    assert servers[1].ask("DELETE", f"{INTENTS}/marked").code == http.HTTPStatus.NO_CONTENT
    assert plane.admin.find(where) is None


def test_a_project_without_a_namespace_is_named(servers: tuple[HpaProcess, HpaProcess]) -> None:
    refused = servers[0].ask("POST", INTENTS.replace("edge", "nowhere"), intent())
    assert (refused.code, refused.body["errors"][0]["field"]) == (http.HTTPStatus.NOT_FOUND, "project-name")
    assert 'namespaces "nowhere" not found' in refused.body["detail"]


def test_users_have_the_rights_that_the_cluster_gives_them(
    plane: BarePlane, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rules = [{"apiGroups": ["streams.ibm.com"], "resources": ["streamshpaintents"], "verbs": ["get", "list", "create"]}]
    grant(plane.admin, "jane", rules, {"kind": "User", "name": "jane"}, "edge")
    token = plane.identities["user"].token
    flags = ("--namespace", "{project}", "--authorize", "--audience", "")
    with HpaProcess(tmp_path_factory.mktemp("rights"), plane, ACCOUNT, *flags) as server:
        assert server.ask("GET", INTENTS).code == http.HTTPStatus.UNAUTHORIZED
        refused = server.ask("GET", INTENTS, token="nobody-has-this-one")
        assert refused.body["detail"] == "header Authorization: is not a token that the cluster accepts"
        assert server.ask("POST", INTENTS, intent("hers"), token).code == http.HTTPStatus.CREATED
        assert server.ask("GET", f"{INTENTS}/hers", token=token).code == http.HTTPStatus.OK
        for method, where, body, verb in (
            ("DELETE", f"{INTENTS}/hers", None, "delete"),
            ("POST", f"{INTENTS}/hers/hpa-resource-consumers", consumer(), "update"),
        ):
            refused = server.ask(method, where, body, token)
            rule = f'"jane" has no right to {verb} streamshpaintents.streams.ibm.com in namespace edge'
            assert (refused.code, refused.body["detail"]) == (http.HTTPStatus.FORBIDDEN, f"user: {rule}")
        refused = server.ask("GET", INTENTS.replace("edge", "other"), token=token)
        assert refused.code == http.HTTPStatus.FORBIDDEN
        assert server.ask("GET", "/metrics", token=token).code == http.HTTPStatus.FORBIDDEN
        assert server.ask("GET", "/metrics", token=plane.identities["admin"].token).code == http.HTTPStatus.OK
        assert server.ask("DELETE", f"{INTENTS}/hers", token=plane.identities["admin"].token).code == 204


def test_tokens_are_made_for_the_interface(plane: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One for the API server is of no use here, except for reading metrics."""
    plane.admin.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "edge"}}
    )
    rules = [{"apiGroups": ["streams.ibm.com"], "resources": ["streamshpaintents"], "verbs": ["list"]}]
    subject = {"kind": "User", "name": "system:serviceaccount:edge:reader"}
    grant(plane.admin, "reader", rules, subject, "edge")
    own, server_s = token_for(plane, "streams-placement-hpa-api"), token_for(plane)
    flags = ("--namespace", "{project}", "--authorize")
    with HpaProcess(tmp_path_factory.mktemp("audience"), plane, ACCOUNT, *flags) as server:
        assert server.ask("GET", INTENTS, token=own).code == http.HTTPStatus.OK
        assert server.ask("DELETE", INTENTS, token=own).code == http.HTTPStatus.FORBIDDEN
        refused = server.ask("GET", INTENTS, token=server_s)
        rule = "is not a token that the cluster accepts for the audience streams-placement-hpa-api"
        assert (refused.code, refused.body["detail"]) == (401, f"header Authorization: {rule}")
        assert server.ask("GET", "/metrics", token=server_s).code == http.HTTPStatus.FORBIDDEN


def token_for(plane: BarePlane, *audiences: str) -> str:
    """A token of the account, for these audiences or for the API server."""
    path = "/api/v1/namespaces/edge/serviceaccounts/reader/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": [*audiences]}}
    made = plane.admin.call("POST", path, asked).body
    return str(made["status"]["token"])
