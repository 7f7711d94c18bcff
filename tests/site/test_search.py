"""Whoever pastes a message into the search of the site finds a section that has it."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.golden.examples import expected, manifests
from tests.site.site_search import SiteSearch
from tools.messages import topics

ENOUGH: Final = 0.7
"""Share of the words of a message that the first section has that is found: the others are the reader's own names."""

RUN: Final = 6
"""Words of a message, one after the other, that another text would hardly have."""

LONG: Final = 8
"""Words of a text that says by itself what it is about; shorter ones are said within others."""

TELLING: Final = 6
"""Letters of a word that tells texts apart: one of nothing but ``has no ... there are ...`` is like many."""


def words(text: str) -> set[str]:
    """As the index parts them, nearly: without signs, and without what is put in."""
    return set(re.findall(r"[a-z0-9]+", re.sub(r"<[^>]*>", " ", text).lower()))


def share(search: SiteSearch, message: str, found: str) -> float:
    """How much of a message the section has."""
    (section,) = (each for each in search.sections if each["location"] == found)
    wanted = words(message)
    return len(wanted & words(f"{section['title']} {section['text']}")) / len(wanted)


def has_a_run(search: SiteSearch, message: str, found: str) -> bool:
    """Whether some words of the message stand one after the other in the section."""
    (section,) = (each for each in search.sections if each["location"] == found)
    own = re.findall(r"[a-z0-9]+", message.lower())
    told = f" {' '.join(re.findall(r'[a-z0-9]+', re.sub(r'<[^>]*>', ' ', section['text']).lower()))} "
    return any(f" {' '.join(own[at : at + RUN])} " in told for at in range(len(own) - RUN + 1))


def refusals() -> list[Any]:
    """The refusals of all examples, and their warnings."""
    found = []
    for path in manifests():
        for result in yaml.safe_load_all(expected(path).read_text()):
            texts = [result["message"]] if "message" in result else []
            found += [pytest.param(text, id=path.stem) for text in texts + result.get("warnings", [])]
    return found


@pytest.mark.parametrize("message", refusals())
def test_the_first_line_of_a_message_finds_a_section_that_has_it(message: str, search: SiteSearch) -> None:
    first = message.partition("\n")[0]
    found = search.find(first)
    assert found, first
    assert share(search, first, found[0]) >= ENOUGH or has_a_run(search, first, found[0]), (first, found)


@pytest.mark.parametrize("message", refusals())
def test_a_whole_message_finds_something(message: str, search: SiteSearch) -> None:
    assert search.find(message)


@pytest.mark.parametrize("said", [pytest.param(said, id=topic.heading) for topic, said in topics().items()])
def test_every_text_of_the_code_is_found_with_other_names_in_it(said: list[str], search: SiteSearch) -> None:
    """The first section that is found has a long text; one of the first page of results has a short one."""
    for text in said:
        own = text.replace("…", " ")
        if max(map(len, words(own))) < TELLING:
            continue
        found = search.find(text.replace("…", "zebra-17"))[: 1 if len(own.split()) > LONG else None]
        assert any(share(search, own, each) >= ENOUGH for each in found), (text, found)


def test_a_message_with_names_of_the_reader_finds_what_it_means(search: SiteSearch) -> None:
    first = 'host("rack7-blade3") cannot hold: 0 of 250 nodes can run this pod.'
    assert search.find(first)[0].startswith(("docs/start.html", "docs/host.html", "docs/troubleshooting.html"))


def test_a_section_with_many_words_is_not_taken_for_one_that_has_the_message(search: SiteSearch) -> None:
    """The tables of settings have each of its words somewhere."""
    first = "requests cpu 400, memory 128Mi cannot hold: 0 of 5 nodes can run this pod."
    assert not search.find(first)[0].startswith(("charts/", "docs/command-line.html", "docs/operations.html"))


def test_a_number_that_a_section_has_by_chance_finds_nothing_by_itself(search: SiteSearch) -> None:
    """Numbers are rare words, and so would weigh more than those that say what is meant."""
    by_number = next(each for each in search.sections if "17 tokens" in each["text"])
    assert search.find("there are more than 17 values")[0] != by_number["location"]
    assert search.find("there are more than 17 values") == search.find("there are more than 23 values")


def test_a_short_search_is_left_as_it_is(search: SiteSearch) -> None:
    assert search.find("glossary")
    assert search.find("glossary zebra") == []


def test_files_that_pages_show_are_not_found(search: SiteSearch) -> None:
    assert [each["location"] for each in search.sections if each["location"].startswith("examples/")] == []


def test_the_search_of_a_page_from_a_file_has_the_same_index(site: Path) -> None:
    script = (site / "search.js").read_text()
    assert script.removeprefix("var __index = ").rstrip("; \n") == (site / "search.json").read_text().strip()
