"""Every flag of ``manage``, and every sentence about a wrong one."""

from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from certs import cli, options
from certs.managed import settings
from certs.managed.configuration import ServiceReference
from certs.managed.keeper import ManagedObjects
from certs.managed.observed import RotationPolicy
from certs.managed.run import Management
from certs.names import LOOPBACK, Names, service_names
from tests.certs.managed.fake import FakeCluster
from tests.certs.samples import DAY

NEEDED = ["--namespace", "ns", "--service", "web", "--secret", "pair"]


def given(*arguments: str, **environment: str) -> settings.ManageGiven:
    parsed = cli.parser().parse_args(["manage", *arguments])
    return settings.ManageGiven(parsed, {options.PREFIX + name: value for name, value in environment.items()})


def asked(*arguments: str, **environment: str) -> Management:
    found = given(*arguments, **environment)
    management = found.management()
    assert found.problems == []
    return management


def test_what_is_asked_for_by_default() -> None:
    assert asked(*NEEDED) == Management(
        ManagedObjects(ServiceReference("ns", "web"), "pair", ()),
        RotationPolicy(service_names("web", "ns"), 365 * DAY, 3650 * DAY, propagation=60, adoption=600),
        lease="pair",
        lease_seconds=15,
        interval=10,
    )


def test_everything_can_be_said() -> None:
    flags = [
        "--mutating",
        "m",
        "--mutating",
        "m2",
        "--validating",
        "v.w",
        "--api-service",
        "v1.g",
        "--lease",
        "l",
        "--interval",
        "0.5",
    ]
    more = ["--days", "9", "--ca-days", "99", "--propagation", "1", "--adoption", "2.5", "--lease-seconds", "3"]
    assert asked(*NEEDED, *flags, *more, "--loopback", "--dns", "A.b", "--ip", "10.0.0.1") == Management(
        ManagedObjects(
            ServiceReference("ns", "web"),
            "pair",
            (("mutating", "m"), ("mutating", "m2"), ("validating", "v.w"), ("apiservice", "v1.g")),
        ),
        RotationPolicy(
            service_names("web", "ns") + LOOPBACK + Names(("a.b",), (ip_address("10.0.0.1"),)),
            9 * DAY,
            99 * DAY,
            propagation=1,
            adoption=2.5,
        ),
        lease="l",
        lease_seconds=3,
        interval=0.5,
    )


def test_variables_speak_when_flags_do_not() -> None:
    lists = {"MUTATING": "m, m2", "VALIDATING": "v"}
    management = asked(NAMESPACE="ns", SERVICE="web", SECRET="pair", INTERVAL="1", **lists)
    assert management.objects.configurations == (("mutating", "m"), ("mutating", "m2"), ("validating", "v"))
    assert management.interval == 1


def test_a_configuration_that_is_named_twice_is_one() -> None:
    assert asked(*NEEDED, "--mutating", "m", "--mutating", "m").objects.configurations == (("mutating", "m"),)


def test_paths_are_named_as_a_log_names_them() -> None:
    objects = asked(*NEEDED, "--mutating", "m").objects
    assert objects.paths == {"mutating/m": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m"}


NAME = (
    "is not the name of an object: use at most 253 lower-case letters, digits, '-' and '.', "
    "each part starting and ending with a letter or digit"
)


@pytest.mark.parametrize(
    ("arguments", "sentences"),
    [
        pytest.param(
            [],
            ["no service is given: use --service with --namespace", "no Secret is given: use --secret"],
            id="nothing",
        ),
        pytest.param(["--namespace", "ns", "--secret", "s"], ["--namespace needs --service"], id="no service"),
        pytest.param([*NEEDED[:4], "--secret", "S"], [f'--secret "S" {NAME}'], id="Secret"),
        pytest.param([*NEEDED, "--lease", "l/x"], [f'--lease "l/x" {NAME}'], id="Lease"),
        pytest.param(
            [*NEEDED, "--mutating", "a..b", "--mutating", "m", "--validating", "../v"],
            [f'--mutating "a..b" {NAME}', f'--validating "../v" {NAME}'],
            id="configurations",
        ),
        pytest.param(
            [*NEEDED, "--interval", "0", "--propagation", "x", "--adoption", "86401", "--lease-seconds", "2"],
            [
                '--propagation "x" is not a number of seconds: use 1 to 86400',
                '--adoption "86401" is not a number of seconds: use 1 to 86400',
                '--lease-seconds "2" is not a number of seconds: use 3 to 3600',
                '--interval "0" is not a number of seconds: use 0.1 to 3600',
            ],
            id="seconds",
        ),
        pytest.param(
            [*NEEDED, "--days", "0"], ['--days "0" is not a number of days: use a whole number, 1 to 36500'], id="days"
        ),
    ],
)
def test_wrong_use(arguments: list[str], sentences: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["manage", *arguments])
    assert (code, capsys.readouterr().err.splitlines()) == (
        2,
        [f"streams-placement-certs manage: {sentence}" for sentence in sentences],
    )


def test_a_name_has_a_longest_length() -> None:
    assert asked(*NEEDED[:4], "--secret", "a" * 253).objects.secret == "a" * 253
    found = given(*NEEDED[:4], "--secret", "a" * 254)
    found.management()
    assert len(found.problems) == 1


def test_without_a_kubeconfig_it_is_the_pods_account(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    code = cli.main(["manage", *NEEDED])
    assert (code, capsys.readouterr().err) == (
        3,
        (
            "streams-placement-certs manage: there is no cluster: "
            "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set\n"
        ),
    )


@pytest.mark.parametrize("flags", [[], ["--context", "fake"]], ids=["current context", "named context"])
async def test_a_kubeconfig_is_used_if_it_is_named(flags: list[str], cluster: FakeCluster) -> None:
    assert given("--kubeconfig", str(cluster.kubeconfig()), *flags).configuration().server == cluster.url


def test_a_kubeconfig_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["manage", *NEEDED, "--kubeconfig", str(tmp_path / "none")])
    assert code == 3
    assert "there is no cluster: the kubeconfig cannot be used: " in capsys.readouterr().err


def test_lives_are_days() -> None:
    assert asked(*NEEDED, "--days", "1").policy.lifetime == timedelta(days=1)
