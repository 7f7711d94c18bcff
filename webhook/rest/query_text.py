"""Parameters of a request: ``parse_query`` reads what follows the question mark of a URL.

EMCO's own interface takes the name of an element as a parameter of its list: ``hpa-intents?intent=NAME``. A parameter
that is not known is refused: if it were ignored, a client would take the answer for what it asked for.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct

from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import quote
from webhook.rest.request_error import RequestError, refused
from webhook.rest.routes import NAME_RULE, Collection, RouteTarget, is_name

LIMIT: Final = 500
"""Elements of one part of a list, at most."""

_TEXT_LIMIT: Final = 2048
"""Characters of all parameters together: a token of an API server has some 300."""

_BY_NAME: Final[Mapping[Collection, tuple[str, ...]]] = {
    Collection.INTENTS: ("intent",),
    Collection.CONSUMERS: ("consumer",),
    Collection.REQUIREMENTS: ("resource", "requirement"),
}
"""Parameters that name an element of a list."""

_PAGING: Final = ("limit", "continue")


class ListQuery(Struct, frozen=True):
    """Parameters of a list: the ``name`` of one element, or how many intents and from where; or those of a query."""

    name: str = ""
    limit: int = 0
    token: str = ""
    parameters: Mapping[str, str] = {}


def parse_query(text: str, target: RouteTarget, *, reading: bool) -> ListQuery:
    """The parameters; raises :class:`RequestError` with status 400 for one that is unknown, repeated or wrong."""
    if not text:
        return ListQuery()
    given = _parameters(text)
    if target.query:
        return ListQuery(parameters=given)
    known = known_parameters(target.collection) if target.listed and reading and target.collection else ()
    for name in given:
        if name not in known:
            rule = unknown("parameter", name, known) if known else f"{quote(name)}: this request has no parameters"
            raise refused(400, "query", rule)
    named = [name for name in known if name not in _PAGING and name in given]
    if named and len(given) > 1:
        raise refused(400, f"query {named[0]}", "names one element, so it must be the only parameter")
    if named and not is_name(given[named[0]]):
        raise refused(400, f"query {named[0]}", NAME_RULE, given[named[0]])
    if "continue" in given and "limit" not in given:
        raise refused(400, "query continue", "needs a limit: the number of elements to return")
    return ListQuery(given[named[0]] if named else "", _limit(given), given.get("continue", ""))


def known_parameters(collection: Collection) -> tuple[str, ...]:
    """The parameters that a list of that collection takes."""
    return (*_BY_NAME[collection], *(_PAGING if collection is Collection.INTENTS else ()))


def _parameters(text: str) -> dict[str, str]:
    if len(text) > _TEXT_LIMIT:
        raise refused(400, "query", f"has more than {_TEXT_LIMIT} characters")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=16)
    except ValueError:
        raise refused(400, "query", "cannot be read: it must be name=value, separated by &", text) from None
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise _twice([name for name, _ in pairs])
    return parameters


def _twice(names: list[str]) -> RequestError:
    name = next(name for name in names if names.count(name) > 1)
    return refused(400, "query", f"{quote(name)} occurs twice")


def _limit(given: Mapping[str, str]) -> int:
    text = given.get("limit")
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LIMIT)) and 1 <= int(text) <= LIMIT):
        raise refused(400, "query limit", f"is not a whole number from 1 to {LIMIT}", text)
    return int(text)
