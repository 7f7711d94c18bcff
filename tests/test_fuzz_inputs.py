"""The inputs that fuzzing begins with, and those that it found; ``make fuzz`` tries others (``tests/fuzz``)."""

from pathlib import Path

import pytest

from tests.fuzz.target import FOUND, Target, TooMuchError, pumped
from tests.fuzz.targets import TARGETS
from tests.suite.example_count import EVERY_DAY


@pytest.mark.examples
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_what_fuzzing_begins_with_is_in_order(target: Target) -> None:
    """Every day the first one and a tenth of the others."""
    inputs = list(target.seeds())
    assert len(inputs) > 1
    for data in inputs[:: 10 if EVERY_DAY else 1]:
        target.tried(data)


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in sorted(FOUND.glob("*/*"))]
)
def test_what_fuzzing_has_found_stays_corrected(path: Path) -> None:
    TARGETS[path.parent.name].tried(path.read_bytes())


def test_every_found_input_is_of_a_target() -> None:
    assert {path.name for path in FOUND.iterdir()} <= TARGETS.keys()


def test_an_input_that_takes_too_long_is_found() -> None:
    slow = Target("slow", lambda data: [None for _ in data * 1000 if sum(data) < 0], list, micros=-1e6)
    with pytest.raises(TooMuchError, match=r"slow: 1 bytes take \S+ s, allowed are -0\.50 s"):
        slow.tried(b"x")


def test_an_input_that_takes_too_much_memory_is_found() -> None:
    large = Target("large", lambda data: bytearray(2**25 * len(data)).clear(), list)
    with pytest.raises(TooMuchError, match=r"large: 1 bytes take 33\d+ bytes of memory, allowed are 16779264"):
        large.tried(b"\xff")


def test_a_part_of_an_input_is_repeated_up_to_a_size() -> None:
    assert pumped(b"abcd", 1 << 8 | 1 << 20, 11) == b"abcbcbcbcd"[:1] + b"bc" * 3 + b"bcd"
    assert pumped(b"abcd", 0, 4) == b"abcd"
    assert pumped(b"", 0, 4) == b""
