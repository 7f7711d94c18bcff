"""Keys and values of labels and taints."""

import pytest

from webhook.placement.text import keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("together", "9034FF9E2B8F00B47A44DFAF3C2A37176C101E2A", id="colocation of the design document"),
        pytest.param("apart", "B76ADE163D874CC5BC0F408D70CFC165667EEC5F", id="exlocation of the design document"),
        pytest.param("Sink", "E53E8D5300C878019A997D4CFB7201C7ED2EE003", id="isolation of the design document"),
    ],
)
def test_a_hash_is_sha1_in_upper_case(text: str, expected: str) -> None:
    assert keys.digest(text) == expected


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        pytest.param("Sink", "Sink", id="legal already"),
        pytest.param("Main.Sink[3]", "Main.Sink-3", id="brackets"),
        pytest.param("ns::Main", "ns.Main", id="namespace"),
        pytest.param("_x", "u_x", id="leading underscore"),
        pytest.param("x_", "x_u", id="trailing underscore"),
        pytest.param(".x", "d.x", id="leading dot"),
        pytest.param("x y", "x-y", id="any other character"),
        pytest.param("x" * 70, "x" * 63, id="too long"),
        pytest.param("x" * 62 + ".y", "x" * 62, id="cut at a dot"),
        pytest.param("", "x", id="empty"),
        pytest.param("[]", "x", id="nothing legal"),
    ],
)
def test_operator_names_become_label_values(operator: str, expected: str) -> None:
    assert keys.label_value(operator) == expected


def test_the_label_of_a_pools_hosts_hashes_namespace_and_object_name() -> None:
    prefix = "streams.ibm.com.node-restriction.kubernetes.io/hostpool."
    assert keys.membership("default", "ib-blue") == prefix + keys.digest("default/ib-blue")


def test_the_value_of_the_taint_is_namespace_and_object_name() -> None:
    assert keys.exclusive("default", "p") == "default.p"


@pytest.mark.parametrize(
    ("namespace", "name", "shown"),
    [
        pytest.param("n" * 40, "p" * 40, "n" * 22, id="cut within the namespace"),
        pytest.param("n" * 21, "p" * 60, "n" * 21, id="cut after the dot"),
        pytest.param("n" * 20, "-" + "p" * 60, "n" * 20, id="no punctuation is left at the cut"),
    ],
)
def test_a_long_value_of_the_taint_is_shortened_with_a_hash(namespace: str, name: str, shown: str) -> None:
    value = keys.exclusive(namespace, name)
    assert (value, len(value) <= 63) == (f"{shown}-{keys.digest(f'{namespace}.{name}')}", True)
