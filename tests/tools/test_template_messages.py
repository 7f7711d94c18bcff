"""Texts of the chart's templates: what is put into them is an ellipsis, and expressions are no texts."""

import re

import pytest

from tests.docs.pages import ROOT
from tools.messages import topics
from tools.template_messages import template_texts

TEMPLATES = ROOT / "charts" / "streams-placement" / "templates"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('    message: "spec.taints: nobody may change this"', "spec.taints: nobody may change this"),
        ('    message: {{ printf "%s, or have %s" (include "a" .) | quote }}', "…, or have …"),
        ("    messageExpression: \"variables.all.join(', ') + ': cannot be changed'\"", "…: cannot be changed"),
        ("    messageExpression: \"'user ' + request.userInfo.username + ' may not'\"", "user … may not"),
        ('{{- $wrong = append $wrong (printf "%s: %s is no %s" $a $b $c) }}', "…: … is no …"),
        ("{{- define \"unseen\" -}}\n'nobody has seen it: '\n{{- end -}}", "nobody has seen it:"),
        ('{{- fail (printf "these could not work:\\n  %s\\n" $all) }}', "these could not work: …"),
    ],
)
def test_a_text_is_found_with_an_ellipsis_for_what_is_put_in(source: str, text: str) -> None:
    assert list(template_texts(source)) == [text]


@pytest.mark.parametrize(
    "source",
    [
        "{{- define \"asks\" -}}\nobject.metadata.?labels.orValue({}).exists(l, l == 'x')\n{{- end -}}",
        '{{- define "name" -}}\n# what the name is for\n{{- end -}}',
        "name: plain",
    ],
)
def test_what_says_nothing_is_not_text(source: str) -> None:
    assert list(template_texts(source)) == []


def test_every_message_of_a_policy_is_on_the_page_in_parts() -> None:
    said = "\n".join(text for texts in topics().values() for text in texts)
    messages = re.findall(r'^ +message: "([^"{]+)"$', (TEMPLATES / "policies.yaml").read_text(), re.MULTILINE)
    assert len(messages) >= 5
    assert [message for message in messages if message not in said] == []
