"""Clauses that no cluster could ever meet together."""

import pytest

from webhook.placement.annotations.placement_text import contradictions
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text.problem import render


def texts(placement: str) -> list[str]:
    """What is wrong with a placement that parses."""
    clauses, problems = parse_placement(placement, "f")
    assert not problems
    return [render([problem]) for problem in contradictions(clauses, "f", placement)]


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        pytest.param(
            'hostColocation("t"), hostExlocation("t")',
            'f: hostColocation("t") and hostExlocation("t") contradict each other\n'
            '  hostColocation("t"), hostExlocation("t")\n'
            "                       ^",
            id="together and apart",
        ),
        pytest.param(
            'hostExlocation("t"), hostColocation("t")',
            'f: hostExlocation("t") and hostColocation("t") contradict each other\n'
            '  hostExlocation("t"), hostColocation("t")\n'
            "                       ^",
            id="apart and together",
        ),
    ],
)
def test_a_contradiction_is_shown_at_its_later_clause(placement: str, expected: str) -> None:
    assert texts(placement) == [expected]


@pytest.mark.parametrize(
    "placement",
    [
        pytest.param('hostColocation("t"), hostExlocation("u")', id="different tokens"),
        pytest.param('hostExlocation("t"), hostIsolation', id="apart and alone"),
        pytest.param('host("a"), hostColocation("t")', id="a host and together"),
        pytest.param('A: hostIsolation; B: hostColocation("t")', id="alone, with a token that no other PE may have"),
        pytest.param('partitionColocation("t"), partitionExlocation("t")', id="clauses for fusion"),
    ],
)
def test_other_pairs_do_not_contradict_themselves(placement: str) -> None:
    assert texts(placement) == []


def test_each_contradiction_is_a_problem_of_its_own() -> None:
    assert len(texts('hostColocation("t"), hostColocation("u"), hostExlocation("t"), hostExlocation("u")')) == 2
