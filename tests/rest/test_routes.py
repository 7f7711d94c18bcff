"""What paths and parameters name, and how they are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from webhook.rest.query_text import ListQuery, parse_query
from webhook.rest.request_error import RequestError
from webhook.rest.routes import (
    LEVELS,
    NAME,
    NAME_RULE,
    Collection,
    IntentGroup,
    RouteTarget,
    group_template,
    parse_path,
    template,
)

GROUP = "/v2/projects/p/composite-apps/c/v1.0/deployment-intent-groups/d"
INTENTS = RouteTarget(IntentGroup("p", "c", "v1.0", "d"), Collection.INTENTS)
NAMES = some.from_regex(NAME, fullmatch=True)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v2",
        "/v1/projects/p/composite-apps/c/v1.0/deployment-intent-groups/d/hpa-intents",
        GROUP,
        f"{GROUP}/",
        f"{GROUP}/hpa-intent",
        f"{GROUP}/hpa-placement",
        f"{GROUP}/hpa-placement/x",
        f"{GROUP}/hpa-intents/i/resource-requirements",
        f"{GROUP}/hpa-intents/i/hpa-resource-consumers/c/resource-requirements/r/more",
        "/v2/projects/p/applications/c/v1.0/deployment-intent-groups/d/hpa-intents",
    ],
)
def test_paths_that_there_are_not(path: str) -> None:
    assert parse_path(path) is None


def test_a_query_about_the_group_is_named() -> None:
    queries = frozenset({"hpa-placement"})
    target = parse_path(f"{GROUP}/hpa-placement", queries)
    assert target == RouteTarget(IntentGroup("p", "c", "v1.0", "d"), None, query="hpa-placement")
    assert parse_path(f"{GROUP}/hpa-placement/x", queries) is None
    assert group_template("hpa-placement").endswith("/{deployment-intent-group-name}/hpa-placement")


def test_escaped_names_are_decoded() -> None:
    target = parse_path(f"{GROUP}/hpa-intents/a%2Db")
    assert target is not None
    assert (target.names, target.intent, target.listed, str(target.group)) == (("a-b",), "a-b", False, "p/c/v1.0/d")


@pytest.mark.parametrize("name", ["", "a%20b", "a%2Fb", "-a", "a.", "%ff", "%00", "a" * 129, "%2e%2e", "%C3%A9"])
def test_what_is_not_a_name(name: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_path(f"{GROUP}/hpa-intents/{name}/hpa-resource-consumers")
    (error,) = refused.value.errors
    assert (refused.value.status, error.field) == (400, "hpa-intent-name")
    assert error.rule.endswith(NAME_RULE)


def test_every_name_that_is_none_is_told() -> None:
    with pytest.raises(RequestError) as refused:
        parse_path("/v2/projects/p!/composite-apps/c!/v!/deployment-intent-groups/d!/hpa-intents/i!")
    fields = [error.field for error in refused.value.errors]
    assert fields == [
        "project-name", "composite-app-name", "composite-app-version", "deployment-intent-group-name",
        "hpa-intent-name",
    ]  # fmt: skip


@given(some.tuples(NAMES, NAMES, NAMES, NAMES), some.lists(NAMES, min_size=1, max_size=3), some.booleans())
def test_a_path_is_read_as_it_is_written(group: tuple[str, str, str, str], names: list[str], listed: bool) -> None:  # noqa: FBT001
    given_names = tuple(names[:-1]) if listed else tuple(names)
    target = RouteTarget(IntentGroup(*group), LEVELS[len(names) - 1][0], given_names, listed)
    assert parse_path(target.path) == target
    if listed:
        assert parse_path(target.element(names[-1]).path) == RouteTarget(
            target.group, target.collection, tuple(names), listed=False
        )


@pytest.mark.parametrize("collection", Collection)
@pytest.mark.parametrize("listed", [True, False])
def test_templates_are_paths(collection: Collection, listed: bool) -> None:  # noqa: FBT001
    path = template(collection, listed=listed).replace("{", "").replace("}", "")
    target = parse_path(path)
    assert target is not None
    assert (target.collection, target.listed) == (collection, listed)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ListQuery()),
        ("intent=a-b", ListQuery("a-b")),
        ("limit=5", ListQuery(limit=5)),
        ("limit=500&continue=eHg", ListQuery(limit=500, token="eHg")),
    ],
)
def test_parameters_of_lists(text: str, query: ListQuery) -> None:
    assert parse_query(text, INTENTS, reading=True) == query


BROAD = "is not a whole number from 1 to 500"


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("intend=a", "query", 'unknown parameter "intend" (did you mean intent?)'),
        ("intent=a&intent=b", "query", '"intent" occurs twice'),
        ("intent=a&limit=1", "query intent", "names one element, so it must be the only parameter"),
        ("intent=", "query intent", f'"" {NAME_RULE}'),
        ("intent=a%20b", "query intent", f'"a b" {NAME_RULE}'),
        ("continue=x", "query continue", "needs a limit: the number of elements to return"),
        ("limit=0", "query limit", f'"0" {BROAD}'),
        ("limit=501", "query limit", f'"501" {BROAD}'),
        ("limit=-1", "query limit", f'"-1" {BROAD}'),
        ("limit=%D9%A1", "query limit", f'"\\u0661" {BROAD}'),
        ("limit=1e1", "query limit", f'"1e1" {BROAD}'),
        ("limit", "query", '"limit" cannot be read: it must be name=value, separated by &'),
        ("intent=%ff", "query", '"intent=%ff" cannot be read: it must be name=value, separated by &'),
        ("x=" + "y" * 2050, "query", "has more than 2048 characters"),
    ],
)
def test_parameters_that_are_refused(text: str, field: str, rule: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_query(text, INTENTS, reading=True)
    (error,) = refused.value.errors
    assert (refused.value.status, error.field, error.rule) == (400, field, rule)


def test_elements_and_changes_have_no_parameters() -> None:
    for target, reading in ((INTENTS.element("i"), True), (INTENTS, False)):
        with pytest.raises(RequestError, match='query: "intent": this request has no parameters'):
            parse_query("intent=a", target, reading=reading)


def test_a_query_gets_its_parameters_as_they_are() -> None:
    target = RouteTarget(INTENTS.group, None, query="hpa-placement")
    assert parse_query("app=a&x=", target, reading=True).parameters == {"app": "a", "x": ""}
