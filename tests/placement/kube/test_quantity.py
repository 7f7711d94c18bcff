"""Kubernetes quantities: exact amounts, what is none, rounding, and short texts."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.example_count import examples
from webhook.placement.kube.quantity import format_quantity, milli, parse_quantity, whole

UNIT = 10**9
INT64 = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        pytest.param("0", 0, id="zero"),
        pytest.param("-0", 0, id="minus zero"),
        pytest.param("007", 7 * UNIT, id="leading zeros"),
        pytest.param("+5", 5 * UNIT, id="plus"),
        pytest.param("-5", -5 * UNIT, id="minus"),
        pytest.param("1.5", 1500 * UNIT // 1000, id="fraction"),
        pytest.param(".5", UNIT // 2, id="no digit before the point"),
        pytest.param("1.", UNIT, id="no digit after the point"),
        pytest.param("1n", 1, id="nano"),
        pytest.param("1u", 1000, id="micro"),
        pytest.param("1500m", 1500 * UNIT // 1000, id="milli"),
        pytest.param("1k", 10**3 * UNIT, id="kilo"),
        pytest.param("1M", 10**6 * UNIT, id="mega"),
        pytest.param("1G", 10**9 * UNIT, id="giga"),
        pytest.param("1T", 10**12 * UNIT, id="tera"),
        pytest.param("1P", 10**15 * UNIT, id="peta"),
        pytest.param("1E", 10**18 * UNIT, id="exa"),
        pytest.param("1Ki", 2**10 * UNIT, id="kibi"),
        pytest.param("1Mi", 2**20 * UNIT, id="mebi"),
        pytest.param("1.5Gi", 3 * 2**29 * UNIT, id="gibi"),
        pytest.param("1Ti", 2**40 * UNIT, id="tebi"),
        pytest.param("1Pi", 2**50 * UNIT, id="pebi"),
        pytest.param("7Ei", 7 * 2**60 * UNIT, id="exbi"),
        pytest.param("8Ei", INT64 * UNIT, id="binary amounts stop at 2**63 - 1"),
        pytest.param("-9Ei", -INT64 * UNIT, id="negative binary amounts too"),
        pytest.param("1e3", 1000 * UNIT, id="exponent"),
        pytest.param("1E3", 1000 * UNIT, id="capital exponent"),
        pytest.param("1e+3", 1000 * UNIT, id="exponent with plus"),
        pytest.param("1e-3", UNIT // 1000, id="negative exponent"),
        pytest.param("0.1n", 1, id="finer than nano is rounded up"),
        pytest.param("-0.1n", -1, id="away from zero"),
        pytest.param("1.0000000001", UNIT + 1, id="tenth decimal is rounded up"),
        pytest.param("1e-400", 1, id="tiny"),
        pytest.param("0e-400", 0, id="zero with a tiny exponent"),
        pytest.param("1e128", 10**137, id="largest exponent"),
        pytest.param("0" * 63 + "1", UNIT, id="64 characters"),
    ],
)
def test_text_is_the_amount(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("+", id="only a sign"),
        pytest.param(".", id="only a point"),
        pytest.param("Ki", id="only a suffix"),
        pytest.param("1K", id="capital kilo"),
        pytest.param("1mi", id="small mebi"),
        pytest.param("1i", id="half a suffix"),
        pytest.param("1e", id="exponent without digits"),
        pytest.param("1e3.5", id="fractional exponent"),
        pytest.param("1e3k", id="exponent and suffix"),
        pytest.param(" 1", id="leading blank"),
        pytest.param("1 ", id="trailing blank"),
        pytest.param("1\n", id="line end"),
        pytest.param("1 Gi", id="blank inside"),
        pytest.param("1,5", id="comma"),
        pytest.param("1.2.3", id="two points"),
        pytest.param("--1", id="two signs"),
        pytest.param("1_000", id="underscore"),
        pytest.param("0x10", id="hexadecimal"),
        pytest.param("inf", id="infinity"),
        pytest.param("nan", id="not a number"),
        pytest.param("\uff11", id="fullwidth digit"),
        pytest.param("\u0661", id="Arabic digit"),
        pytest.param("1e129", id="exponent beyond the limit"),
        pytest.param("10e128", id="amount beyond that of the largest exponent"),
        pytest.param("1e400", id="exponent beyond floats"),
        pytest.param("1e999999999", id="exponent beyond memory"),
        pytest.param("1" * 65, id="65 characters"),
        pytest.param("1" * 1_000_000, id="million characters"),
        pytest.param("\ud800", id="half a surrogate pair"),
    ],
)
def test_text_is_not_a_quantity(text: str) -> None:
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("number", "nano"),
    [
        pytest.param(2, 2 * UNIT, id="integer"),
        pytest.param(-3, -3 * UNIT, id="negative integer"),
        pytest.param(10**64 - 1, (10**64 - 1) * UNIT, id="integer of 64 digits"),
        pytest.param(10**64, None, id="integer of 65 digits"),
        pytest.param(10**5000, None, id="integer of 5,001 digits"),
        pytest.param(0.1, UNIT // 10, id="float stands for its shortest text"),
        pytest.param(1e-05, UNIT // 10**5, id="float with a negative exponent"),
        pytest.param(1e22, 10**22 * UNIT, id="float with an exponent"),
        pytest.param(1e300, None, id="float beyond the limit"),
        pytest.param(math.inf, None, id="infinity"),
        pytest.param(math.nan, None, id="not a number"),
        pytest.param(True, None, id="a boolean is no number"),
    ],
)
def test_json_number_is_the_amount(number: float, nano: int | None) -> None:
    assert parse_quantity(number) == nano


def test_a_boolean_is_not_a_number_after_the_number_it_equals() -> None:
    assert (parse_quantity(1), parse_quantity(1.0), parse_quantity(True)) == (UNIT, UNIT, None)  # noqa: FBT003 - the boolean is the case


@pytest.mark.parametrize(
    ("text", "thousandths", "units"),
    [
        pytest.param("0", 0, 0, id="zero"),
        pytest.param("1500m", 1500, 2, id="milli stays, whole rounds up"),
        pytest.param("1n", 1, 1, id="both round up"),
        pytest.param("-1n", -1, -1, id="away from zero"),
        pytest.param("1e50", INT64, INT64, id="clamped"),
        pytest.param("-1e50", -INT64, -INT64, id="clamped below"),
        pytest.param("7Ei", INT64, 7 * 2**60, id="only milli is clamped"),
    ],
)
def test_amount_in_int64(text: str, thousandths: int, units: int) -> None:
    nano = parse_quantity(text)
    assert nano is not None
    assert (milli(nano), whole(nano)) == (thousandths, units)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("1.5", "1500m", id="milli"),
        pytest.param("-1.5", "-1500m", id="negative"),
        pytest.param("0.000000001", "1n", id="nano"),
        pytest.param("2000", "2k", id="kilo"),
        pytest.param("1024", "1024", id="counts stay decimal"),
        pytest.param("1048576", "1Mi", id="bytes become binary"),
        pytest.param("1.5Gi", "1536Mi", id="no fractions"),
        pytest.param("16393244Ki", "16393244Ki", id="a node's memory"),
        pytest.param("64G", "64G", id="decimal where that is shorter"),
        pytest.param("8Ei", "9223372036854775807", id="largest int64"),
        pytest.param("1000E", "1e21", id="beyond exa"),
        pytest.param("100E", "100E", id="a suffix rather than an exponent as long"),
    ],
)
def test_amount_is_written_as(text: str, short: str) -> None:
    nano = parse_quantity(text)
    assert nano is not None
    assert format_quantity(nano) == short


SIGNS = st.sampled_from(["", "+", "-"])
NUMBERS = st.from_regex(r"[0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20}", fullmatch=True)
SUFFIXES: dict[str, Fraction | int] = {
    "": 1,
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "k": 10**3,
    "M": 10**6,
}
SUFFIXES |= {"G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SUFFIXES |= {"Pi": 2**50, "Ei": 2**60, "e5": 10**5, "E-7": Fraction(1, 10**7), "e+31": 10**31}


def exactly(sign: str, number: str, suffix: str) -> int:
    """The amount by rational arithmetic: rounded away from zero to nano-units, binary ones capped."""
    nano: int = math.ceil(Fraction(f"0{number}0" if "." in number else number) * SUFFIXES[suffix] * UNIT)
    if suffix.endswith("i"):
        nano = min(nano, INT64 * UNIT)
    return -nano if sign == "-" else nano


@examples(200)
@given(SIGNS, NUMBERS, st.sampled_from(list(SUFFIXES)))
def test_amount_is_exact(sign: str, number: str, suffix: str) -> None:
    assert parse_quantity(sign + number + suffix) == exactly(sign, number, suffix)


@examples(200)
@given(SIGNS, NUMBERS, st.sampled_from(list(SUFFIXES)))
def test_written_amount_is_read_as_the_same(sign: str, number: str, suffix: str) -> None:
    nano = exactly(sign, number, suffix)
    assert parse_quantity(format_quantity(nano)) == nano


@examples(200)
@given(st.integers(-(10**30), 10**30))
def test_whole_and_milli_never_lose_any(nano: int) -> None:
    thousandths = math.ceil(Fraction(abs(nano), 10**6))
    assert abs(milli(nano)) == min(thousandths, INT64)
    assert abs(whole(nano)) == min(math.ceil(Fraction(abs(nano), UNIT)), INT64)


@examples(200)
@given(st.text(st.characters(exclude_categories=()), max_size=70) | st.floats() | st.integers())
def test_anything_is_an_amount_or_none(amount: str | float) -> None:
    nano = parse_quantity(amount)
    assert nano is None or isinstance(nano, int)
