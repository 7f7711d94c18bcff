"""The pages of metrics and alerts are those of the code and the chart."""

import re
from pathlib import Path

import pytest

from kubeapi.client.errors import Cause
from tests.docs.pages import PAGES, ROOT, page
from tests.yaml_values import loaded
from tools.monitoring import __main__ as making
from tools.monitoring.catalogue import LABELS, TOPICS
from tools.monitoring.registered import registered, sample_names
from webhook.admission.answer import Outcome
from webhook.placement.decision.wait import WaitCause
from webhook.placement.text.rule import Rule
from webhook.server.metrics import PREFIX

ALERTS = [
    rule["alert"]
    for group in loaded((ROOT / "charts/streams-placement/monitoring/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
DESCRIBED = [one for one, _ in registered().values()]
NAMES = sample_names(DESCRIBED)


def sections(name: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)\n", page(name), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("path", "text"), making.files().items(), ids=lambda one: getattr(one, "name", ""))
def test_what_is_made_of_the_code_is_made_again_after_a_change(path: Path, text: str) -> None:
    """If not: ``make monitoring``."""
    assert path.read_text() == text


def test_every_metric_answers_one_question() -> None:
    entries = [PREFIX + entry.name for topic in TOPICS for entry in topic.entries]
    assert sorted(entries) == sorted(one.name for one in DESCRIBED)


def test_every_label_is_explained() -> None:
    assert set(LABELS) == {label for one in DESCRIBED for label in one.labels}


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("cause", [*(cause.name.lower() for cause in Cause), *WaitCause]),
        ("outcome", list(Outcome)),
    ],
    ids=["cause", "outcome"],
)
def test_the_values_of_a_label_are_those_of_the_code(label: str, values: list[str]) -> None:
    assert [value for value in values if f"`{value}`" not in LABELS[label]] == []


def test_every_rule_is_explained() -> None:
    rules = page("metrics.md").partition("\n### Rules\n")[2]
    assert re.findall(r"^\| `([\w-]+)` \| .+ \|$", rules, re.MULTILINE) == list(Rule)


def test_a_metric_that_programs_describe_differently_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.monitoring import registered as module  # noqa: PLC0415 -- its table is replaced
    from webhook.server.metrics import Metrics  # noqa: PLC0415 -- as above

    def other() -> Metrics:
        metrics = Metrics("other")
        metrics.gauge("ready", "Something else.", lambda: 1.0)
        return metrics

    monkeypatch.setattr(module, "PROGRAMS", {**module.PROGRAMS, "other": other})
    with pytest.raises(ValueError, match="streams_placement_ready is described as"):
        module.registered()


def test_a_page_names_only_metrics_that_there_are() -> None:
    named = {path: set(re.findall(r"\bstreams_placement_[a-z_]+\b", path.read_text())) for path in PAGES}
    unknown = {path: names - NAMES - {PREFIX, f"{PREFIX}name"} for path, names in named.items()}
    assert {path: names for path, names in unknown.items() if names} == {}


def test_every_alert_has_its_section() -> None:
    assert list(sections("alerts.md")) == ALERTS


def test_a_section_says_what_to_do() -> None:
    """It has commands or queries, or leads to the section that has them."""
    says = re.compile(r"^```(?:sh no-run: .+|sh on-cluster|promql)$|\]\(#streamsplacement\w+\)", re.MULTILINE)
    texts = sections("alerts.md")
    assert [alert for alert in ALERTS if not says.search(texts[alert])] == []
