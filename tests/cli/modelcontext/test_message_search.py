"""Which text of the product a message is."""

import pytest

from webhook.cli.modelcontext.message_search import (
    LEAST,
    MESSAGE_LIMIT,
    explain_message,
    own_length,
    read_catalogue,
)


def test_a_text_that_says_enough_is_found_by_what_it_becomes() -> None:
    """Each twentieth: all of them take ten seconds."""
    texts = [text for topic in read_catalogue() for text in topic.texts][::20]
    lost = [text for text in texts if own_length(text) >= LEAST and text not in found(text)]
    assert (len(texts) > 50, lost) == (True, [])


def found(text: str) -> list[str]:
    """The texts that explain the text with something put in."""
    said = text.replace("…", "x").replace(" / ", "\n")
    return [match.text for match in explain_message(said).matches]


def test_the_parts_of_a_refusal_are_found_whatever_was_put_in() -> None:
    message = (
        "host(MyPool) and nodeSelector disktype=ssd cannot all hold: 0 of 13 nodes can run this pod.\n"
        "    2 nodes do not have the label disktype=ssd\n"
    )
    assert [match.text for match in explain_message(message).matches][:2] == [
        "…: 0 of … can run this pod.",
        "do not have the label …",
    ]


@pytest.mark.parametrize("message", ["hello", "is not", "a b c d e f g", "0" * MESSAGE_LIMIT])
def test_what_the_product_does_not_say_is_not_explained(message: str) -> None:
    assert explain_message(message).matches == ()
