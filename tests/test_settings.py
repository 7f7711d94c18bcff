"""Settings: defaults, environment, and what a wrong value is told."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from webhook import settings
from webhook.setting_fields import PREFIX, declared, variable
from webhook.settings import Settings, WrongSettingError


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for field in declared():
        monkeypatch.delenv(variable(field), raising=False)


def test_the_defaults_are_those_of_a_trial_on_loopback() -> None:
    assert settings.read({}).model_dump() == {
        "host": "127.0.0.1",
        "port": 8443,
        "health_host": "127.0.0.1",
        "health_port": 8081,
        "tls_cert": None,
        "tls_key": None,
        "client_ca": None,
        "tls_self_signed": False,
        "tls_dir": Path(".certs"),
        "snapshot": None,
        "context": None,
        "stale_after": 300.0,
        "drain": 5.0,
        "log_level": "info",
        "max_connections": 1000,
        "mode": "enforce",
        "host_binding": "auto",
        "unknown_annotations": "refuse",
        "elastic": False,
        "scale_up": "off",
        "node_shapes": "",
        "unsatisfiable_pods": "wait",
        "controller_account": "",
        "reviewed_kinds": "",
        "operator_accounts": "",
        "element_requests": "cpu=100m,memory=128Mi",
        "job_seconds": 1.0,
        "job_process": True,
        "claim_templates": True,
        "kueue": False,
        "provisioning_requests": False,
        "verify_pods": True,
        "exclusive_effect": "NoSchedule",
        "exclusive_strangers": "streams",
        "excluded_namespaces": "kube-system",
        "poolable_nodes": "!node-role.kubernetes.io/control-plane",
        "exclusive_quota": "",
        "pool_quota": "100",
        "guard_nodes": "warn",
        "guard_bindings": False,
        "strict": False,
        "authorize_pools": False,
        "replace_unusable_after": 0.0,
        "replace_unlabelled": False,
        "name_degraded_pools": False,
        "runtime_image": "streams-runtime:{buildType}",
        "lease_namespace": None,
        "lease_name": "streams-placement-controller",
        "placement_review": False,
        "placement_review_port": 8444,
        "debug_profile": False,
        "traces_endpoint": "",
        "traces_ratio": 0.01,
    }


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("PORT", "0", "port", 0),
        ("TLS_CERT", "/tls/tls.crt", "tls_cert", Path("/tls/tls.crt")),
        ("VERIFY_PODS", "false", "verify_pods", False),
        ("DRAIN", "0.5", "drain", 0.5),
        ("MODE", "audit", "mode", "audit"),
        ("POOLABLE_NODES", "streams=yes,!gpu", "poolable_nodes", "streams=yes,!gpu"),
        ("EXCLUSIVE_STRANGERS", "all", "exclusive_strangers", "all"),
        ("EXCLUDED_NAMESPACES", "kube-system,team-a", "excluded_namespaces", "kube-system,team-a"),
        ("EXCLUSIVE_QUOTA", "20,team-a=40", "exclusive_quota", "20,team-a=40"),
        ("POOL_QUOTA", "50,team-a=400", "pool_quota", "50,team-a=400"),
        ("GUARD_NODES", "refuse", "guard_nodes", "refuse"),
        ("SCALE_UP", "auto", "scale_up", "auto"),
        ("NODE_SHAPES", '[{"name": "large"}]', "node_shapes", '[{"name": "large"}]'),
        ("GUARD_BINDINGS", "true", "guard_bindings", True),
        ("TRACES_ENDPOINT", "https://collector/v1/traces", "traces_endpoint", "https://collector/v1/traces"),
    ],
)
def test_a_variable_sets_its_field(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, field: str, value: object
) -> None:
    monkeypatch.setenv(PREFIX + variable, text)
    assert getattr(settings.read({}), field) == value


def test_a_flag_wins_over_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_PORT", "1")
    assert settings.read({"port": "2"}).port == 2


@pytest.mark.parametrize(
    ("variable", "text"), [("STREAMS_PLACEMENT_PORT", ""), ("STREAMS_PLACEMENT_UNKNOWN", "x"), ("PORT", "1")]
)
def test_empty_and_foreign_variables_change_nothing(monkeypatch: pytest.MonkeyPatch, variable: str, text: str) -> None:
    monkeypatch.setenv(variable, text)
    assert settings.read({}).port == 8443


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="Instance is frozen"):
        settings.read({}).port = 1  # type: ignore[misc]  # mypy knows it as well


@pytest.mark.parametrize(
    ("field", "text", "rule"),
    [
        ("port", "70000", 'is "70000", but it should be less than or equal to 65535'),
        ("port", "https", 'is "https", but it should be a valid integer'),
        ("drain", "-1", 'is "-1", but it should be greater than or equal to 0'),
        ("mode", "off", 'is "off", but it should be enforce or audit'),
        ("host_binding", "name", 'is "name", but it should be auto, nodeName or nodeAffinity'),
        ("log_level", "trace", 'is "trace", but it should be debug, info, warning or error'),
        ("verify_pods", "perhaps", 'is "perhaps", but it should be a valid boolean'),
        (
            "poolable_nodes",
            "a in (b",
            'is "a in (b", but "a in (b" is not a label selector such as "key", "!key", "key=value" or "key in (a, b)"',
        ),
        (
            "exclusive_quota",
            "1,x y,2",
            ('is "1,x y,2", but "x y" is not a quota such as "20" or "team-a=40"; "2" is a second default'),
        ),
        ("element_requests", "cpu", 'is "cpu", but "cpu" is not a request such as "cpu=100m"'),
        ("pool_quota", "many", 'is "many", but "many" is not a quota such as "20" or "team-a=40"'),
        ("scale_up", "yes", 'is "yes", but it should be auto or off'),
        (
            "node_shapes",
            "[{}]",
            'is "[{}]", but it should be a JSON list of node shapes: Object missing required field `name` - at `$[0]`',
        ),
        ("exclusive_strangers", "some", 'is "some", but it should be streams or all'),
        ("excluded_namespaces", "a,B", 'is "a,B", but "B" is not a namespace name'),
        (
            "traces_endpoint",
            "collector:4318",
            'is "collector:4318", but it should be a URL such as http://collector:4318/v1/traces',
        ),
        ("traces_ratio", "2", 'is "2", but it should be less than or equal to 1'),
        ("poolable_nodes", "x" * 5000, f'is "{"x" * 80}...", but it should have at most 4096 characters'),
    ],
)
class TestAWrongValue:
    """One sentence names where it came from, the value and the rule."""

    def test_of_a_variable(self, monkeypatch: pytest.MonkeyPatch, field: str, text: str, rule: str) -> None:
        monkeypatch.setenv(variable(field), text)
        with pytest.raises(WrongSettingError) as caught:
            settings.read({})
        assert str(caught.value) == f"{PREFIX}{field.upper()} {rule}"

    def test_of_a_flag(self, field: str, text: str, rule: str) -> None:
        with pytest.raises(WrongSettingError) as caught:
            settings.read({field: text})
        assert str(caught.value) == f"--{field.replace('_', '-')} {rule}"


def test_all_wrong_values_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_PORT", "x")
    with pytest.raises(WrongSettingError) as caught:
        settings.read({"drain": "y"})
    assert str(caught.value) == (
        'STREAMS_PLACEMENT_PORT is "x", but it should be a valid integer; '
        '--drain is "y", but it should be a valid number'
    )


def test_the_model_has_what_is_declared() -> None:
    model = {name: (field.annotation, field.default) for name, field in Settings.model_fields.items()}
    assert model == {name: (one.kind, one.default) for name, one in declared().items()}


def test_every_field_is_described_in_one_sentence() -> None:
    for name, field in declared().items():
        description = field.rule.description
        assert (description[:1].isupper(), description[-1:], description.count(". ")) == (True, ".", 0), name
