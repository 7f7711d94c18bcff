"""Label selectors in kubectl's text form."""

import pytest

from webhook.placement.kube.pod import LabelSelector, Requirement
from webhook.placement.kube.selection.selector_text import parse_selector

FORMS = {
    "a key": ("gpu", Requirement("gpu", "Exists")),
    "no key": ("!gpu", Requirement("gpu", "DoesNotExist")),
    "a qualified key": ("!node-role.kubernetes.io/x", Requirement("node-role.kubernetes.io/x", "DoesNotExist")),
    "equal": ("env=prod", Requirement("env", "In", ("prod",))),
    "equal twice": ("env == prod", Requirement("env", "In", ("prod",))),
    "equal to nothing": ("env=", Requirement("env", "In", ("",))),
    "not equal": ("env != prod", Requirement("env", "NotIn", ("prod",))),
    "in": ("env in (a, b)", Requirement("env", "In", ("a", "b"))),
    "in, over lines": ("env\tin\r\n(\ta,\n b )", Requirement("env", "In", ("a", "b"))),
    "not in": ("env notin (a,b)", Requirement("env", "NotIn", ("a", "b"))),
    "above": ("cores > 4", Requirement("cores", "Gt", ("4",))),
    "below": ("cores<-4", Requirement("cores", "Lt", ("-4",))),
}


@pytest.mark.parametrize(("text", "requirement"), FORMS.values(), ids=FORMS)
def test_every_form_is_read(text: str, requirement: Requirement) -> None:
    assert parse_selector(text) == LabelSelector(match_expressions=(requirement,))


def test_requirements_are_parted_by_commas_outside_of_parentheses() -> None:
    selector = parse_selector("a, b in (x, y), !c")
    assert [found.key for found in selector.match_expressions or ()] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "  "], ids=["empty", "blank"])
def test_nothing_selects_everything(text: str) -> None:
    assert parse_selector(text) == LabelSelector(match_expressions=())


@pytest.mark.parametrize(
    "text", ["a,", "a b", "!", "-a", "a in b", "a>x", "ä", "a=b=c", "a,\x1db", "\xa0a", "a\x0b=b", "a\x0c"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a label selector such as"):
        parse_selector(text)


def test_the_refusal_names_the_part() -> None:
    with pytest.raises(ValueError, match=r'^"b c" is not a label selector such as "key", "!key", "key=value" or'):
        parse_selector("a, b c")
