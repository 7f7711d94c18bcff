"""For all values of the chart: what is reviewed, by which rules, and what happens while no process answers."""

import itertools
from typing import Final

import pytest

from tests.e2e.chart.rendering import CHART, CI, NAMESPACE, RELEASE, Values, helm, of_kind, only, render
from tests.e2e.client.api import Object
from webhook.placement.text.api_kinds import WORKLOADS

EXISTING: Values = {"tls": {"source": "existingSecret", "existingSecret": {"name": "own"}}}

COMBINATIONS = [
    {
        "settings": {"mode": mode, "guardBindings": True},
        "webhook": {"excludedNamespaces": excluded, "timeoutSeconds": seconds},
        **tls,
    }
    for mode, excluded, seconds, tls in itertools.product(
        ("enforce", "audit"),
        ([], ["tigera-operator", "kube-public"]),
        (1, 5),
        ({"tls": {"source": "managed"}}, {"tls": {"source": "cert-manager"}}, EXISTING),
    )
]


NOT_INJECTED = {"key": "streams.ibm.com/inject", "operator": "NotIn", "values": ["enabled"]}
"""Namespaces of which another hook sees every workload."""


def hooks(objects: list[Object]) -> list[Object]:
    """Every entry of both webhook configurations."""
    kinds = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    return [hook for one in of_kind(objects, *kinds) for hook in one["webhooks"]]


@pytest.mark.parametrize("values", COMBINATIONS, ids=str)
def test_whatever_the_values_the_webhooks_keep_to_their_scope(values: Values) -> None:
    sealed = {"pods", "guard"} if values["settings"]["mode"] == "enforce" else set()
    objects = render(values)
    mutating = only(objects, "MutatingWebhookConfiguration")["webhooks"]
    for hook in hooks(objects):
        assert hook["timeoutSeconds"] == values["webhook"]["timeoutSeconds"] <= 5
        assert (hook["sideEffects"], hook["matchPolicy"]) == ("None", "Equivalent")
        assert hook["admissionReviewVersions"] == ["v1"]
        assert hook["matchConditions"]
        assert ("objectSelector" in hook) is (hook not in mutating and hook["name"].partition(".")[0] in sealed)
        assert "*" not in str(hook["rules"])
        if hook["name"].startswith("nodes."):
            continue
        excluded, *others = hook["namespaceSelector"]["matchExpressions"]
        assert others == ([NOT_INJECTED] if hook["name"].startswith("workload-guard.") else [])
        assert (excluded["key"], excluded["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
        assert {"kube-system", NAMESPACE, *values["webhook"]["excludedNamespaces"]} == set(excluded["values"])
        assert all(rule["scope"] == "Namespaced" for rule in hook["rules"])


def test_of_pods_that_were_not_reviewed_nothing_is_evaluated_but_by_the_guard() -> None:
    selectors = {hook["name"].partition(".")[0]: hook.get("objectSelector") for hook in hooks(render())[2:]}
    seal = {"key": "streams.ibm.com/seal"}
    assert (selectors["pods"], selectors["guard"]) == (
        {"matchExpressions": [{**seal, "operator": "Exists"}]},
        {"matchExpressions": [{**seal, "operator": "DoesNotExist"}]},
    )


@pytest.mark.parametrize(("mode", "sealing"), [("enforce", True), ("audit", False)])
def test_a_pod_that_comes_with_a_seal_is_decided_about(mode: str, *, sealing: bool) -> None:
    """The guard is not asked about it, so it must not be the user who wrote the seal."""
    asks, others = (hook["matchConditions"] for hook in hooks(render({"settings": {"mode": mode}}))[:2])
    sealed = "|| 'streams.ibm.com/seal' in object.metadata.?labels.orValue({})"
    assert [sealed in one["expression"] for one in (*asks, *others)] == [sealing, sealing]


@pytest.mark.parametrize(("mode", "sealing"), [("enforce", True), ("audit", False)])
def test_so_is_a_workload_of_such_pods_and_by_one_entry(mode: str, *, sealing: bool) -> None:
    """What its pods would be refused for is said of it."""
    found = {hook["name"].partition(".")[0]: hook for hook in hooks(render({"settings": {"mode": mode}}))[2:]}
    sealed = "'streams.ibm.com/seal' in t.?metadata.?labels.orValue({})"
    names = ("workloads", "workload-guard", "namespaces")
    assert [sealed in found[name]["matchConditions"][0]["expression"] for name in names] == [sealing] * 3


CHANGED: dict[str, tuple[Values, list[str]]] = {
    "by default": ({}, ["changed"]),
    "where using a pool takes a right, which is asked for then": ({"authorizePools": True}, ["not-mirror"]),
    "in audit mode, in which there are no seals": ({"mode": "audit"}, ["opted-in"]),
}


@pytest.mark.parametrize(("settings", "conditions"), CHANGED.values(), ids=CHANGED)
def test_pods_are_reviewed_again_if_they_were_changed(settings: Values, conditions: list[str]) -> None:
    (hook,) = (one for one in hooks(render({"settings": settings}))[2:] if one["name"].startswith("pods."))
    assert [one["name"] for one in hook["matchConditions"]] == conditions


OF_OUR_KINDS: Final = ("statuses", "objects", "questions", "authors")
"""Policies about objects that nobody else has, and about our own accounts."""


def test_only_chosen_namespaces_pay() -> None:
    """Except for nodes, which belong to no namespace, and for our own kinds, of which others have none."""
    team = {"key": "team", "operator": "In", "values": ["a", "b"]}
    chosen = {"matchLabels": {"streams": "yes"}, "matchExpressions": [team]}
    objects = render({"webhook": {"namespaceSelector": chosen}})
    for hook in hooks(objects):
        name, found = hook["name"].partition(".")[0], hook.get("namespaceSelector", {})
        everywhere = name in {"nodes", "hostpools", "hpaintents", "jobs", "pes", "parallelregions"}
        assert (found.get("matchLabels", {}).get("streams") == "yes") is not everywhere
        assert (team in found.get("matchExpressions", [])) is not everywhere
        assert (found.get("matchLabels", {}).get("streams.ibm.com/inject") == "enabled") is (name == "namespaces")
    policies = {
        one["metadata"]["name"].removeprefix(f"{RELEASE}-"): one["spec"]["matchConstraints"].get("namespaceSelector")
        for one in of_kind(objects, "ValidatingAdmissionPolicy")
    }
    inside = ("protected", "bindings", "created", "templates")
    outside = ("nodes", "controller", "elements", *OF_OUR_KINDS)
    assert policies == {**dict.fromkeys(inside, chosen), **dict.fromkeys(outside)}


def test_only_pods_are_mutated_and_only_when_they_are_created() -> None:
    rules = [hook["rules"] for hook in only(render(), "MutatingWebhookConfiguration")["webhooks"]]
    pods_only = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    assert rules == [[{**pods_only, "scope": "Namespaced"}]] * 2


def test_every_kind_of_workload_is_reviewed_and_daemons_are_guarded_by_themselves() -> None:
    rules = {hook["name"].partition(".")[0]: hook["rules"] for hook in hooks(render())}
    resources = {name: {one for rule in found for one in rule["resources"]} for name, found in rules.items()}
    kinds = {kind.resource for kind in WORKLOADS}
    names = ("workloads", "workload-guard", "daemons")
    assert [resources[name] for name in names] == [kinds, kinds - {"daemonsets"}, {"daemonsets"}]


def test_what_asks_for_hosts_never_passes_unseen() -> None:
    failing = {hook["name"].partition(".")[0]: hook["failurePolicy"] for hook in hooks(render())}
    assert failing == {
        "pods": "Fail",
        "namespaces": "Fail",
        "guard": "Ignore",
        "tolerations": "Ignore",
        "hostpools": "Fail",
        "hpaintents": "Fail",
        "jobs": "Fail",
        "pes": "Fail",
        "parallelregions": "Fail",
        "workloads": "Fail",
        "workload-guard": "Ignore",
        "daemons": "Ignore",
        "nodes": "Ignore",
    }


def test_an_installation_may_guard_exclusive_hosts_at_the_price_of_availability() -> None:
    objects = render({"webhook": {"guardFailurePolicy": "Fail"}})
    assert {hook["failurePolicy"] for hook in hooks(objects) if "nodes" not in hook["name"]} == {"Fail"}


STRICT: dict[str, tuple[Values, list[str]]] = {
    "by itself": ({}, ["Ignore", "Fail", "Fail", "Fail"]),
    "at the price of everything": ({"guardFailurePolicy": "Fail"}, ["Fail", "Fail", "Fail", "Fail"]),
    "at no price": ({"guardFailurePolicy": "Ignore"}, ["Ignore", "Ignore", "Ignore", "Ignore"]),
}  # fmt: skip


@pytest.mark.parametrize(("values", "policies"), STRICT.values(), ids=STRICT.keys())
def test_strict_closes_what_it_can_and_bindings_only_if_asked_for(values: Values, policies: list[str]) -> None:
    """What happens while nobody answers: without bindings nothing in a cluster starts."""
    objects = render({"settings": {"strict": True}, "webhook": values})
    found = {hook["name"].partition(".")[0]: hook["failurePolicy"] for hook in hooks(objects)}
    assert [found[name] for name in ("bindings", "guard", "tolerations", "workload-guard")] == policies
    (role,) = (one for one in of_kind(objects, "ClusterRole") if one["metadata"]["name"] == RELEASE)
    daemons = {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["get"]}
    assert daemons in role["rules"]


GUARDS: dict[str, tuple[Values, set[str], list[str]]] = {
    "by default": ({}, {"nodes"}, ["Warn"]),
    "refused": ({"guardNodes": "refuse"}, {"nodes"}, ["Deny"]),
    "refused, in audit mode": ({"guardNodes": "refuse", "mode": "audit"}, {"nodes"}, ["Warn"]),
    "not looked at": ({"guardNodes": "off"}, set(), []),
    "bindings as well": ({"guardBindings": True}, {"nodes", "bindings"}, ["Warn"]),
}


@pytest.mark.parametrize(("values", "names", "actions"), GUARDS.values(), ids=GUARDS.keys())
def test_nodes_and_bindings_are_guarded(values: Values, names: set[str], actions: list[str]) -> None:
    """Whether by the webhook, which can never stand in a cluster's way, or by the API server itself."""
    objects = render({"settings": values, "webhook": {"guardFailurePolicy": "Fail"}})
    found = {hook["name"].partition(".")[0]: hook["failurePolicy"] for hook in hooks(objects)}
    assert {name: policy for name, policy in found.items() if name in {"nodes", "bindings"}} == dict.fromkeys(
        names, "Ignore"
    )
    bindings = of_kind(objects, "ValidatingAdmissionPolicyBinding")
    policy = [one["spec"]["validationActions"] for one in bindings if one["metadata"]["name"].endswith("-nodes")]
    assert policy == ([actions] if actions else [])


def test_heartbeats_the_controller_and_kubernetes_itself_are_left_alone() -> None:
    (hook,) = [hook for hook in hooks(render()) if hook["name"].startswith("nodes.")]
    conditions = [one["name"] for one in hook["matchConditions"]]
    assert conditions == ["relevant"]
    assert [(rule["operations"], rule["resources"]) for rule in hook["rules"]] == [
        (["UPDATE", "DELETE"], ["nodes"]),
        (["UPDATE"], ["nodes/status"]),
    ]


QUOTAS = {"20": True, "20,team-a=40, team-b=0": True, "": True, "x y": False, "20,": False, "a=": False}


@pytest.mark.parametrize(("text", "good"), QUOTAS.items(), ids=map(repr, QUOTAS))
def test_a_quota_is_checked_before_anything_is_installed(text: str, good: bool) -> None:  # noqa: FBT001 -- of a table
    done = helm("template", RELEASE, str(CHART), values={"settings": {"exclusiveQuota": text}})
    assert (done.returncode == 0) is good, done.stderr


def test_a_quota_may_be_a_number() -> None:
    (webhook,) = [one for one in of_kind(render({"settings": {"exclusiveQuota": 20}}), "Deployment") if is_webhook(one)]
    settings = webhook["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "STREAMS_PLACEMENT_EXCLUSIVE_QUOTA", "value": "20"} in settings


def test_webhook_and_controller_know_the_namespaces_that_are_left_alone() -> None:
    values = {"webhook": {"excludedNamespaces": ["monitoring", "kube-system"]}, "tls": {"source": "cert-manager"}}
    deployments = of_kind(render(values), "Deployment")
    told = {"name": "STREAMS_PLACEMENT_EXCLUDED_NAMESPACES", "value": f"kube-system,monitoring,{NAMESPACE}"}
    assert [told in one["spec"]["template"]["spec"]["containers"][0]["env"] for one in deployments] == [True, True]


def is_webhook(one: Object) -> bool:
    return bool(one["metadata"]["name"] == RELEASE)


def test_mutations_run_last_and_again_when_others_follow() -> None:
    configuration = only(render(), "MutatingWebhookConfiguration")
    assert configuration["metadata"]["name"] == f"zz-{RELEASE}"
    assert {hook["reinvocationPolicy"] for hook in configuration["webhooks"]} == {"IfNeeded"}


def test_the_bundle_is_left_to_whoever_makes_certificates() -> None:
    sources: list[Values] = [{"tls": {"source": "managed"}}, {"tls": {"source": "cert-manager"}}, EXISTING]
    assert not [hook for tls in sources for hook in hooks(render(tls)) if "caBundle" in hook["clientConfig"]]


def test_a_bundle_in_the_values_is_told_to_the_api_server() -> None:
    file = next(file for file in CI if "existing" in file.name)
    assert all(hook["clientConfig"]["caBundle"].startswith("LS0tLS1CRUdJTi") for hook in hooks(render(None, file)))


def test_cert_manager_is_asked_to_inject_its_bundle() -> None:
    objects = render({"tls": {"source": "cert-manager"}})
    kinds = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    asked = [one["metadata"]["annotations"] for one in of_kind(objects, *kinds)]
    assert asked == [{"cert-manager.io/inject-ca-from": f"{NAMESPACE}/{RELEASE}"}] * 2


def test_the_configurations_call_the_port_of_the_service() -> None:
    objects = render({"service": {"port": 9443}})
    assert only(objects, "Service")["spec"]["ports"][0]["port"] == 9443
    assert {hook["clientConfig"]["service"]["port"] for hook in hooks(objects)} == {9443}


@pytest.mark.parametrize(
    ("mode", "actions"), [("enforce", ["Deny"]), ("audit", ["Warn", "Audit"])], ids=["enforce", "audit"]
)
def test_policies_refuse_as_the_webhook_does(mode: str, actions: list[str]) -> None:
    objects = render({"settings": {"mode": mode}})
    bindings = of_kind(objects, "ValidatingAdmissionPolicyBinding")
    chosen = {one["metadata"]["name"].removeprefix(f"{RELEASE}-"): one["spec"]["validationActions"] for one in bindings}
    refusing = dict.fromkeys(("protected", "bindings", "created", "templates"), actions)
    own = {name: ["Deny"] for name in ("controller", "statuses", "objects", "questions")}
    everywhere = {"elements": ["Deny"]} if mode == "audit" else {}
    assert chosen == {**refusing, **own, **everywhere, "nodes": ["Warn"], "authors": actions}


def test_every_policy_has_its_binding() -> None:
    objects = render()
    policies = [one["metadata"]["name"] for one in of_kind(objects, "ValidatingAdmissionPolicy")]
    bound = [one["spec"]["policyName"] for one in of_kind(objects, "ValidatingAdmissionPolicyBinding")]
    assert (policies, len(policies)) == (bound, 10)
