"""The manifests of the chart, for every source of certificates."""

from pathlib import Path

import pytest

from tests.e2e.chart.rendering import CHART, CI, RELEASE, Values, helm, of_kind, only, render, rendered

EXISTING: Values = {"tls": {"source": "existingSecret", "existingSecret": {"name": "own"}}}


def name(file: Path) -> str:
    return file.stem


# The whole of it


@pytest.mark.parametrize("file", CI, ids=name)
def test_lint_has_nothing_to_say(file: Path) -> None:
    done = helm("lint", "--strict", str(CHART), "--values", str(file))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", CI, ids=name)
def test_two_renderings_are_the_same(file: Path) -> None:
    assert rendered(None, file) == rendered(None, file)


def test_there_is_a_file_for_every_source() -> None:
    assert [name(file) for file in CI] == ["cert-manager-values", "existing-secret-values", "managed-values"]


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ({"source": "managed"}, ["ClusterRole", "ClusterRoleBinding", "Deployment", "NetworkPolicy", "Role"]),
        ({"source": "cert-manager"}, ["Certificate", "Certificate", "Issuer", "Issuer"]),
        (EXISTING["tls"], []),
    ],
    ids=["managed", "cert-manager", "existingSecret"],
)
def test_a_source_brings_only_what_it_needs(source: Values, kinds: list[str]) -> None:
    bare = {one["kind"] + one["metadata"]["name"] for one in render(EXISTING)}
    more = [one["kind"] for one in render({"tls": source}) if one["kind"] + one["metadata"]["name"] not in bare]
    assert sorted(set(more) - {"RoleBinding", "ServiceAccount"}) == sorted(set(kinds))


def test_no_secret_is_rendered() -> None:
    assert not [file for file in CI if of_kind(render(None, file), "Secret")]


def test_an_issuer_of_ones_own_makes_the_charts_superfluous() -> None:
    issuer = {"name": "vault", "kind": "ClusterIssuer"}
    objects = render({"tls": {"source": "cert-manager", "certManager": {"issuerRef": issuer}}})
    assert (of_kind(objects, "Issuer"), only(objects, "Certificate")["spec"]["issuerRef"]) == ([], issuer)


def test_metrics_are_offered_to_prometheus_if_wanted() -> None:
    values = {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}}
    monitor = only(render(values), "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert not of_kind(render(), "ServiceMonitor")


def test_names_follow_the_release() -> None:
    done = helm("template", "prod", str(CHART), "--show-only", "templates/service.yaml")
    assert "name: prod-streams-placement" in done.stdout


# What is not understood is refused

WRONG: dict[str, tuple[Values, str]] = {
    "a typo": ({"replica": 2}, "replica"),
    "an unknown word within": ({"tls": {"origin": "managed"}}, "origin"),
    "an unknown setting": ({"settings": {"hostbinding": "auto"}}, "hostbinding"),
    "an unknown source": ({"tls": {"source": "self-signed"}}, "source"),
    "a Secret without a name": ({"tls": {"source": "existingSecret"}}, "existingSecret/name"),
    "a Secret that is not used": ({"tls": {"existingSecret": {"name": "own"}}}, "existingSecret/name"),
    "a bundle that is none": (
        {"tls": {"source": "existingSecret", "existingSecret": {"name": "own", "caBundle": "LS0t"}}},
        "caBundle",
    ),
    "an issuer without a name": ({"tls": {"certManager": {"issuerRef": {"kind": "Issuer"}}}}, "issuerRef"),
    "a long time-out": ({"webhook": {"timeoutSeconds": 30}}, "timeoutSeconds"),
    "no replicas": ({"replicas": 0}, "replicas"),
    "an unknown mode": ({"settings": {"mode": "off"}}, "mode"),
    "a switch as a text": ({"settings": {"elastic": "no"}}, "elastic"),
    "pods that ask for hosts": ({"podLabels": {"streams.ibm.com/job": "x"}}, "podLabels"),
    "pods of another name": ({"podLabels": {"app.kubernetes.io/name": "x"}}, "podLabels"),
    "an unknown resource": ({"resources": {"limit": {}}}, "limit"),
    "a network that is none": ({"networkPolicy": {"apiServerCIDRs": ["10.0.0.1"]}}, "apiServerCIDRs"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "named"), WRONG.values(), ids=WRONG.keys())
def test_values_that_mean_nothing_are_refused(values: Values, named: str) -> None:
    done = helm("template", RELEASE, str(CHART), values=values)
    assert (done.returncode, named in done.stderr) == (1, True), done.stderr


def test_as_part_of_another_chart_it_may_be_given_global_values() -> None:
    assert render({"global": {"region": "eu"}}) == render()
