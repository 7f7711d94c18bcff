"""Paths and formulas in the files of kinds."""

from fractions import Fraction
from typing import Any

import pytest

from webhook.placement.kinds.formula import LARGEST, FormulaError, number, parse

DOCUMENT: dict[str, Any] = {
    "spec": {
        "count": 3, "half": 0.5, "text": "abc", "no": False, "zero": 0, "size": "2g", "tenth": 0.1,
        "conf": {"a.b": "7"},
        "settings": {"a": {"b": {"c": 1, "d.e": 2}, "b.c": 3, "f": {}}, "a.b": {"d": {"e": 4}}, "g.h": None},
        "groups": [{"name": "x", "size": 2}, {"name": "y"}, "z", {"size": "4"}], "nan": float("nan"), "more": {"c": 1},
    }
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".spec.count", 3),
        (".spec.missing", None),
        (".spec.count.deeper", None),
        ('.spec.conf["a.b"]', "7"),
        (".spec.no // 5", 5),
        (".spec.zero // 5", 0),
        (".spec.missing // .spec.no // .spec.text", "abc"),
        ("(1 + 2) * 3 - 4 / 2", 7),
        ("1 / 0", None),
        ("1 + .spec.missing", 1),
        (".spec.missing + 2", 2),
        ("2 * .spec.missing", None),
        ("2 * .spec.text", None),
        ('2 * .spec.conf["a.b"]', 14),
        (".spec.conf + .spec.more", {"a.b": "7", "c": 1}),
        (".spec.groups + .spec.groups == .spec.missing", False),
        (".spec.conf + 1", None),
        (".spec.nan + 1 - .spec.nan", None),
        ("2 * .spec.tenth", Fraction(1, 5)),
        ("2 * .spec.no", None),
        (".spec.count == 3", True),
        (".spec.count < 3", False),
        (".spec.text < 3", None),
        ("1 == 1 and .spec.zero", True),
        ("1 == 1 and .spec.no", False),
        (".spec.no or .spec.missing", False),
        (".spec.no or .spec.text", True),
        ('if .spec.text == "abc" then 1 else 2 end', 1),
        ("if .spec.no then 1 else null end", None),
        ("ceil(7 / 2)", 4),
        ("floor(7 / 2)", 3),
        ("ceil(.spec.text)", None),
        ("max(1; 2)", 2),
        ("min(1; .spec.missing)", None),
        ("not(.spec.no)", True),
        ("any(.spec.groups; .size)", True),
        ("any(.spec.text; .size)", False),
        ("sum(.spec.groups; .size)", 6),
        ('quantity("1500m")', Fraction(3, 2)),
        ("quantity(.spec.text)", None),
        ("quantity(.spec.count)", 3),
        ("javaBytes(.spec.size; 1)", 2 * 1024**3),
        ('javaBytes("512"; 1024)', 512 * 1024),
        ('javaBytes("1.5 mb"; 1)', 1_500_000),
        ('javaBytes("1.5Gi"; 1)', 1536 * 1024**2),
        ('javaBytes("0.5GiB"; 1)', 512 * 1024**2),
        ('javaBytes(" 2 mebibytes "; 1)', 2 * 1024**2),
        ('javaBytes("2 kibibytes"; 1)', 2 * 1024),
        ('javaBytes("7bytes"; 1)', 7),
        (f'javaBytes("7{" " * 60}b"; 1)', 7),
        (f'javaBytes("7{" " * 63}b"; 1)', None),
        ('javaBytes("2Gi"; 1)', 2 * 1024**3),
        ("javaBytes(.spec.count; 10)", 30),
        ("javaBytes(.spec.half; 10)", None),
        ("javaBytes(.spec.no; 10)", None),
        ("javaBytes(.spec.text; 10)", None),
        ("javaBytes(.spec.count; null)", None),
        ('setting(.spec.conf; "a.b")', "7"),
        ('setting(.spec.settings; "a.b.c")', 3),
        ('setting(.spec.settings; "a.b.d.e")', 4),
        ('setting(.spec.settings; "a.f")', None),
        ('setting(.spec.settings; "g.h")', None),
        ('setting(.spec.text; "a")', None),
        ("setting(.spec.settings; .spec.count)", None),
    ],
)
def test_value(text: str, value: object) -> None:
    assert parse(text).of(DOCUMENT) == value


@pytest.mark.parametrize(("at", "value"), [(0, "x"), (1, "y"), (2, None), (9, None)])
def test_brackets_stand_for_the_instance(at: int, value: object) -> None:
    assert parse(".spec.groups[].name").of(DOCUMENT, at) == value


def test_brackets_of_what_is_not_a_list_have_no_value() -> None:
    assert parse(".spec.text[].name").of(DOCUMENT) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'': a value is expected, not 'the end'"),
        (".spec.", "'.spec.': a field is expected after '.', not 'the end'"),
        (".spec[1]", "'.spec[1]': a field is expected after '[', not '1'"),
        ('.spec["a"', "'.spec[\"a\"': ']' is expected, not 'the end'"),
        (".a[].b[]", "'.a[].b[]': a path may have [] once"),
        ("(1", "'(1': ')' is expected, not 'the end'"),
        ("1 2", "'1 2': an operator is expected before '2'"),
        ("1 ? 2", "'1 ? 2': '?' is not expected"),
        ("1 +", "'1 +': a value is expected, not 'the end'"),
        ("if 1 then 2 end", "'if 1 then 2 end': 'else' is expected, not 'end'"),
        ("nothing(1)", "'nothing(1)': there is no function nothing of 1 arguments"),
        ("max(1)", "'max(1)': there is no function max of 1 arguments"),
        ("sum(1)", "'sum(1)': there is no function sum of 1 arguments"),
    ],
)
def test_a_text_that_is_not_an_expression_says_where(text: str, problem: str) -> None:
    with pytest.raises(FormulaError) as error:
        parse(text)
    assert str(error.value) == problem


def test_the_list_of_instances_is_before_the_brackets() -> None:
    expression = parse("(.spec.replicas // 1) * .spec.groups[].size")
    assert (expression.path, expression.list) == ("spec.replicas", "spec.groups")
    assert (parse("1").path, parse("1").list) == ("1", "")


def test_a_text_has_no_paths() -> None:
    assert parse('setting(.spec.conf["a.b"]; "c.d") // "e.f" // .spec.count').paths == [
        'spec.conf["a.b"]',
        "spec.count",
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (10**30, LARGEST),
        (-(10**30), -LARGEST),
        (1e300, LARGEST),
        (True, None),
        ("1" * 30, None),
        ("1.5", Fraction(3, 2)),
        ([], None),
    ],
)
def test_numbers_are_bounded(value: object, found: object) -> None:
    assert number(value) == found
