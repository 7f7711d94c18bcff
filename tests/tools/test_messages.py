"""The page of messages is what the code says, and what is no message is left out of it."""

import json
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools import messages
from tools.messages import PAGE, TOPICS, Topic, catalogue, page, texts, topics
from webhook.cli.modelcontext.message_search import CATALOGUE, read_catalogue

SAID = {Topic("Pools", "[HostPools](hostpool.md).", ()): ["the pool … is there"]}


@pytest.mark.untraced
def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text() == page(), "run make messages"


def test_the_catalogue_of_the_program_has_the_texts_of_the_page() -> None:
    assert CATALOGUE.read_text() == catalogue(), "run make messages"
    assert [len(topic.texts) for topic in read_catalogue()] == [len(said) for said in topics().values()]


def test_the_catalogue_names_pages_from_the_root_of_the_repository() -> None:
    named = {page for topic in read_catalogue() for page in re.findall(r"\(([^ )]+\.md)[^)]*\)", topic.advice)}
    assert {"docs/refusals.md", "charts/streams-placement/README.md"} <= named
    assert [page for page in named if not (ROOT / page).exists()] == []


def test_every_family_says_something_and_every_module_of_it_is_there() -> None:
    assert [topic.heading for topic, said in topics().items() if not said] == []
    modules = [module for topic in TOPICS for module in topic.modules]
    assert [module for module in modules if not (ROOT / module).exists()] == []


def test_a_formatted_text_has_an_ellipsis_for_what_is_put_in() -> None:
    assert texts('raise Wrong(f"the name {name!r} is taken by {other}")') == ["the name … is taken by …"]


def test_a_text_inside_of_a_formatted_one_is_one_of_its_own() -> None:
    source = """f"{count} nodes {'do not have the label' if many else 'has not the label'} {label}" """
    assert texts(source) == ["do not have the label", "has not the label"]


def test_lines_of_a_text_are_parted_by_strokes() -> None:
    assert texts('say("The pools cannot be made.\\nNearest fix: ask for more")') == [
        "The pools cannot be made. / Nearest fix: ask for more"
    ]


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of some more words."""',
        "def take(kind: 'one of many kinds here') -> None: ...",
        "kind: 'one of many kinds here' = 1",
        "flag(help='what the flag is good for')",
        "Field(description='what the field is good for')",
        "{'description': 'what the operation is good for'}",
        "TextRule(about='what the field is good for')",
        "object_name('the name of that object there')",
        "metrics.gauge('pools', 'how many pools there are', count)",
        "Option('dir', 'DIR', 'a folder of four files')",
        "_DESCRIPTION: Final = 'what the command is good for'",
        "raise RuntimeError('a connection is used twice here')",
        "short = 'only three words'",
        "query = 'SELECT name FROM intents WHERE name = 1'",
        "expression = r'one two three four \\\\d+'",
        "described = " + repr("a word " * 60),
    ],
)
def test_what_no_user_sees_is_not_a_message(source: str) -> None:
    assert texts(source) == []


def test_a_call_that_describes_may_say_something_as_well() -> None:
    assert texts("NumberRule('what the field is good for', form='is not a label value')") == ["is not a label value"]


def test_of_a_module_of_rules_only_what_the_rules_say_counts() -> None:
    source = """text("The name of the pool to use"), rule("self.one == self.two", "must be the same as two")"""
    assert texts(source, of_rules=True) == ["must be the same as two"]


def test_the_page_is_rewritten_only_if_it_says_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is the catalogue, which may not be there yet."""
    monkeypatch.setattr(messages, "PAGE", tmp_path / "docs" / "messages.md")
    monkeypatch.setattr(messages, "CATALOGUE", tmp_path / "messages.json")
    monkeypatch.setattr(messages, "REPOSITORY", tmp_path)
    monkeypatch.setattr(messages, "topics", lambda: SAID)
    messages.PAGE.parent.mkdir()
    messages.PAGE.write_text("")
    assert [messages.write(), messages.write()] == [[messages.PAGE, messages.CATALOGUE], []]
    assert messages.PAGE.read_text() == page()
    assert json.loads(messages.CATALOGUE.read_text()) == [
        {"heading": "Pools", "advice": "HostPools (docs/hostpool.md).", "texts": ["the pool … is there"]}
    ]
