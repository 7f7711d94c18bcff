"""``streams-placement explain`` of manifests with HPAIntents and namespaces: they count as applied."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.examples import EXAMPLES
from webhook.cli import main

Explain = Callable[..., tuple[int, str, str]]

INTENT = """\
apiVersion: streams.ibm.com/v1
kind: HPAIntent
metadata: {name: mine, namespace: team}
spec: {consumers: [{consumer: {apiVersion: apps/v1, kind: Deployment, name: d}, requirements: [%s]}]}
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: %s, labels: {streams.ibm.com/inject: %s}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: team}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
"""
QAT = "{name: intel.com/qat, limits: 1}"


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Explain:
    def run(*documents: str) -> tuple[int, str, str]:
        manifest = tmp_path / "all.yaml"
        manifest.write_text("---\n".join(documents))
        code = main(["explain", "-f", str(manifest), "--snapshot", str(EXAMPLES / "cluster")])
        out, err = capsys.readouterr()
        return code, out.replace(str(manifest), "all.yaml"), err.replace(str(manifest), "all.yaml")

    return run


def test_an_intent_among_the_manifests_counts_as_applied(explain: Explain) -> None:
    code, out, _ = explain(INTENT % QAT, NAMESPACE % ("team", "enabled"), DEPLOYMENT)
    assert (code, "  candidates: worker-1\n" in out) == (0, True)


def test_in_a_namespace_that_is_not_enabled_it_does_not_hold_unasked(explain: Explain) -> None:
    _, out, _ = explain(INTENT % QAT, DEPLOYMENT)
    assert "intel.com/qat" not in out


def test_a_namespace_among_the_manifests_takes_the_place_of_the_one_that_is_known(explain: Explain) -> None:
    logger = (EXAMPLES / "hpaintent-logger.yaml").read_text()
    _, before, _ = explain(logger)
    _, after, _ = explain(logger, NAMESPACE % ("edge", "disabled"))
    assert ("intel.com/qat" in before, "intel.com/qat" in after) == (True, False)


def test_an_intent_that_would_be_refused_is_named(explain: Explain) -> None:
    assert explain(INTENT % "{name: intel.com/qat}", DEPLOYMENT) == (
        2,
        "",
        (
            "streams-placement: all.yaml: HPAIntent team/mine: spec.consumers[0].requirements[0]: "
            "needs requests or limits: how much of intel.com/qat\n"
        ),
    )
