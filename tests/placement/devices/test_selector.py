"""Selectors, evaluated for devices."""

import subprocess
import sys

import pytest
from msgspec.structs import replace

from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Traits, Value, Version
from webhook.placement.devices.selectors import selector as module
from webhook.placement.devices.selectors.selector import DeviceBudget, Selector, selector
from webhook.placement.kube.quantity import NANO

DRIVER = "gpu.example.com"
D = f'device.attributes["{DRIVER}"]'
DEVICE = Device(
    "gpu-0",
    (
        Attribute("model", "A100"),
        Attribute("numa", 1),
        Attribute("ok", value=True),
        Attribute("other.example.com/root", "p0"),
        Attribute("version", Version("1.2.3")),
    ),
    (DeviceCapacity("memory", 40 * 2**30 * NANO), DeviceCapacity("other.example.com/lanes", 16 * NANO)),
    Traits(shared=True),
)


def test_a_budget_is_renewed_as_it_was_at_first() -> None:
    budget = DeviceBudget(3, 4, 5)
    budget.evaluations, budget.steps, budget.nodes = 0, 1, 2
    budget.renew_nodes()
    assert (budget.evaluations, budget.steps, budget.nodes) == (3, 1, 5)
    budget.renew()
    assert (budget.evaluations, budget.steps, budget.nodes) == (3, 4, 5)


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        (f'device.driver == "{DRIVER}"', True),
        ("device.allowMultipleAllocations", True),
        (f'{D}.model == "A100"', True),
        (f"{D}.ok", True),
        (f"{D}.numa > 1", False),
        ('device.attributes["other.example.com"].root == "p0"', True),
        (f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) == 0', True),
        (f'device.capacity["{DRIVER}"].memory == quantity("40960Mi")', True),
        (f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("40Gi"))', False),
        ('device.capacity["other.example.com"].lanes.isLessThan(quantity("17"))', True),
        ('isQuantity("1Gi") && !isQuantity("x")', True),
        ('isSemver("1.0.0") && !isSemver("1.0")', True),
        (f'{D}.version.isLessThan(semver("1.10.0"))', True),
        (f'{D}.version.isGreaterThan(semver("1.2.3-rc.1"))', True),
        (f'{D}.version == semver("1.2.3+build")', True),
        (f"{D}.version.major() == 1 && {D}.version.minor() == 2 && {D}.version.patch() == 3", True),
        (f"cel.bind(d, {D}, d.ok && d.numa == 1)", True),
        (f'{D}.?missing.orValue("x") == "x"', True),
        (f"has({D}.missing)", False),
        ('has(device.attributes["gone"].x)', False),
        (f'{D}.exists(k, k == "numa")', True),
        (f'{D}.model.lowerAscii().startsWith("a")', True),
        (f'{D}.model in ["A100", "H100"]', True),
        (f"{D}.missing == 1", None),
        ('device.attributes["gone"].x == 1', None),
        ('device.capacity[?"a"]', None),
        ('"\udc9c" == "a"', None),
        ("bind", None),
        (f"{D}.missing == 1 || true", True),
        (f"{D}.model", None),
        ('quantity("x") == quantity("1")', None),
        ('semver("1") == semver("1.0.0")', None),
        (f'{D}.version.isLessThan(quantity("1"))', None),
        ('quantity("1").major() == 1', None),
        ("true ? 1 : true", None),
        ('device.driver == "a" + "b"', None),
    ],
)
def test_answers(expression: str, *, answer: bool | None) -> None:
    """A device meets the selector, or does not; an evaluation that fails has no answer."""
    assert Selector(expression).matches(DRIVER, DEVICE, DeviceBudget()) is answer


@pytest.mark.parametrize("value", [("a", "b"), None, Version("1")], ids=["list", "unknown type", "no version"])
def test_values_that_are_not_read(value: Value) -> None:
    """An attribute of several values, or of an unknown type, has no answer for selectors that may read it."""
    device = Device("gpu-0", (Attribute("model", value), Attribute("numa", 1)))
    assert Selector(f'{D}.model == "a"').matches(DRIVER, device, DeviceBudget()) is None
    assert Selector(f"{D}.numa == 1").matches(DRIVER, device, DeviceBudget()) is True


def test_devices_that_look_alike_are_evaluated_once() -> None:
    """Devices that agree in what is read cost one evaluation; true and 1 are different values."""
    found, budget = Selector(f"{D}.numa == 1"), DeviceBudget(1)
    for name in ("gpu-0", "gpu-1"):
        device = Device(name, (Attribute("numa", 1), Attribute("uuid", name)))
        assert found.matches(DRIVER, device, budget) is True
    other = Device("gpu-2", (Attribute("numa", value=True),))
    assert found.matches(DRIVER, other, budget) is None
    assert found.matches(DRIVER, other, DeviceBudget()) is False
    assert found.matches(DRIVER, other, budget) is False


def test_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many answers are kept."""
    monkeypatch.setattr(module, "_KEPT", 1)
    found, budget = Selector(f"{D}.numa == 1"), DeviceBudget(4)
    for value in (1, 2):
        assert found.matches(DRIVER, Device("d", (Attribute("numa", value),)), budget) is (value == 1)
    assert found.matches(DRIVER, Device("d", (Attribute("numa", 1),)), budget) is None


def test_compiled_once() -> None:
    """An expression has one selector; one that cannot be compiled reads nothing."""
    assert selector("device.driver == 'x'") is selector("device.driver == 'x'")
    assert selector("true ? 1 : 'x'").read is None
    assert selector("true").read is not None


def test_the_library_is_imported_with_the_first_selector() -> None:
    """A process that compiles no selector does not import the library of CEL."""
    there = "print('cel_expr_python' in sys.modules)"
    code = (
        "import sys; from webhook.app import serve; from webhook.placement.devices.selectors.selector import Selector; "
        f"{there}; Selector(\"device.driver == 'x'\"); {there}"
    )
    found = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)  # noqa: S603 -- code of this test
    assert found.stdout == "False\nTrue\n"


def test_names_of_many_drivers_and_attributes_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DRIVERS", 1)
    monkeypatch.setattr(module, "_NAMES", 4)
    found = Selector('device.attributes["a"].x == 1 || device.attributes["b"].x == 1')
    for _ in range(2):
        for driver in ("a", "b"):
            one = Device("d", (Attribute("x", 1), *(Attribute(f"y{at}", at) for at in range(4))))
            assert found.matches(driver, one, DeviceBudget()) is True
    either = Selector(f'device.attributes["{DRIVER}"].model == "A100"')
    for at in range(8):
        one = Device("d", (Attribute("model", "A100"), Attribute(f"n{at}", at)))
        assert either.matches(DRIVER, one, DeviceBudget()) is True


def test_answers_are_forgotten_while_another_thread_reads_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """``clusters`` evaluates one selector in several threads: a cluster counted as not read for a KeyError."""
    monkeypatch.setattr(module, "_KEPT", 1)
    asked = Selector("device.attributes['gpu.example.com'].numa == 1")
    other = replace(DEVICE, attributes=(Attribute("numa", 2),))

    class Interrupted(dict[tuple[object, ...], bool | None]):
        """Answers; as soon as one was seen to be there, another thread gets one about another device."""

        def __contains__(self, key: object) -> bool:
            there = super().__contains__(key)
            if there:
                asked.matches(DRIVER, other, DeviceBudget())
            return there

    monkeypatch.setattr(asked, "_answers", Interrupted())
    assert asked.matches(DRIVER, DEVICE, DeviceBudget()) is True
    assert asked.matches(DRIVER, DEVICE, DeviceBudget()) is True
