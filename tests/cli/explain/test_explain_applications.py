"""``explain`` and ``plan`` of applications of other operators, and the examples of these."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import Explain
from tests.yaml_values import loaded
from webhook.cli import main
from webhook.placement.jobs import whole_application
from webhook.placement.kinds.application import ComponentPods
from webhook.placement.kube.pod import Pod

EXAMPLES: Final = Path(__file__).parents[3] / "examples"
CLUSTER: Final = str(EXAMPLES / "cluster")
APPLICATIONS: Final = sorted(
    path for path in (EXAMPLES / "applications").glob("*.yaml") if not path.name.endswith(".expected.yaml")
)


def explained(explain: Explain, path: Path) -> list[dict[str, Any]]:
    _, out, _ = explain("-o", "json", "--snapshot", CLUSTER, "-f", str(path))
    found: list[dict[str, Any]] = json.loads(out)
    return found


def results(explain: Explain, path: Path) -> list[dict[str, Any]]:
    """What becomes of the application, and of the pods of each component; absent where nothing is said."""
    return [
        {key: one[key] for key in ("origin", "verdict", "message", "warnings", "candidates") if one[key]}
        for one in explained(explain, path)
    ]


@pytest.mark.parametrize("path", APPLICATIONS, ids=lambda path: path.stem)
def test_an_example_has_its_expected_results(path: Path, explain: Explain) -> None:
    assert results(explain, path) == loaded(path.with_suffix(".expected.yaml").read_text())


@pytest.mark.parametrize("path", APPLICATIONS, ids=lambda path: path.stem)
def test_an_example_says_in_its_first_line_what_it_shows(path: Path) -> None:
    assert path.read_text().startswith("# ")


def changed(tmp_path: Path, name: str, *replaced: tuple[str, str]) -> Path:
    """An example with other texts in it."""
    text = (EXAMPLES / "applications" / f"{name}.yaml").read_text()
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "given.yaml"
    file.write_text(text)
    return file


UNASKED: Final = (
    ("        labels: {streams.ibm.com/job: events}\n", ""),
    ("        annotations: {streams.ibm.com/placement: 'hostExlocation(\"brokers\")'}\n", "        labels: {}\n"),
    ("cpu: 2,", "cpu: 2000,"),
)


def test_one_that_asks_for_nothing_is_admitted_as_it_is(explain: Explain, tmp_path: Path) -> None:
    file = changed(tmp_path, "kafka", *UNASKED)
    whole = explained(explain, file)[0]
    assert (whole["verdict"], whole["warnings"]) == (
        "admitted",
        ["it does not ask for placement: a cluster would admit it, and its pods would wait for nodes"],
    )


def test_what_cannot_be_read_is_refused(explain: Explain, tmp_path: Path) -> None:
    [whole] = explained(
        explain,
        changed(tmp_path, "kafka", ("labels: {streams.ibm.com/job: events}", "labels: {streams.ibm.com/job: 7}")),
    )
    where = "spec.template.pod.metadata.labels.streams.ibm.com/job"
    said = f'{where}: 7 is a whole number, expected a text: write it in quotes, "7"'
    assert (whole["code"], whole["message"]) == (422, said)


def test_one_that_is_suspended_is_warned_of(explain: Explain, tmp_path: Path) -> None:
    file = changed(tmp_path, "refused-flink", ("parallelism: 20", "parallelism: 20, state: suspended"))
    assert explained(explain, file)[0]["warnings"] == [
        'not yet: hostExlocation("slots") cannot hold: 7 of 10 pods fit (taskManager).'
    ]


def planned(capsys: pytest.CaptureFixture[str], *files: Path) -> list[dict[str, Any]]:
    main(["plan", "-o", "json", "--snapshot", CLUSTER, "-f", *map(str, files)])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["subjects"]
    return found


def test_plan_has_the_pods_of_all_components_that_run_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("flink", "jobset", "kafka", "spark", "refused-flink")
    subjects = planned(capsys, *(EXAMPLES / "applications" / f"{name}.yaml" for name in names))
    assert [one["verdict"] for one in subjects] == ["admitted"] * 4 + ["refused"]


def test_plan_refuses_what_cannot_be_read_and_passes_over_what_is_suspended(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    suspended = changed(tmp_path, "refused-flink", ("parallelism: 20", "parallelism: 20, state: suspended"))
    [subject] = planned(capsys, suspended)
    assert subject["verdict"] == "admitted"
    wrong = changed(tmp_path, "kafka", ("labels: {streams.ibm.com/job: events}", "labels: {streams.ibm.com/job: 7}"))
    [subject] = planned(capsys, wrong)
    assert subject["verdict"] == "refused"


def test_the_page_of_a_plan_shows_a_refused_application(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "-o", "html", "--snapshot", CLUSTER, "-f", str(EXAMPLES / "applications" / "refused-flink.yaml")])
    page = capsys.readouterr().out
    assert "FlinkDeployment word-count" in page
    assert "7 of 10 pods fit (taskManager)" in page


def test_pods_that_avoid_each_other_by_a_label_of_no_node_are_admitted_and_planned(
    explain: Explain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler lets any number of them run on nodes without the label."""
    term = "{labelSelector: {matchLabels: {streams.ibm.com/job: word-count}}, topologyKey: example.com/rack}"
    apart = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"
    stated = """annotations: {streams.ibm.com/placement: 'hostExlocation("slots")'}\n"""
    file = changed(tmp_path, "flink", (stated, f"{stated}      spec: {{containers: [], {apart}}}\n"))
    assert [one["verdict"] for one in explained(explain, file)] == ["admitted"] * 3
    assert [one["verdict"] for one in planned(capsys, file)] == ["admitted"]


def test_one_that_asks_for_nothing_and_is_not_readable_says_where(explain: Explain, tmp_path: Path) -> None:
    file = changed(
        tmp_path, "jobset", ("labels: {streams.ibm.com/job: train}", "labels: {slice: 4}"),
        ("annotations: {streams.ibm.com/placement: 'hostExlocation(\"train\")'}", "annotations: {}"),
    )  # fmt: skip
    field = "spec.replicatedJobs[0].template.spec.template.metadata.labels.slice"
    (whole,) = results(explain, file)
    assert (whole["verdict"], whole["warnings"][0]) == (
        "admitted",
        (
            f"it does not ask for placement, and its pods are not judged: {field}: 4 is a whole number, expected a "
            'text: write it in quotes, "4"'
        ),
    )


@pytest.mark.parametrize("replaced", [(), UNASKED], ids=["admitted", "does not ask and cannot run"])
def test_the_pods_are_read_once(
    explain: Explain, tmp_path: Path, replaced: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    pods_of = whole_application.PodsToJudge

    def counted(component: ComponentPods, pod: Pod) -> whole_application.PodsToJudge:
        read.append(component.name)
        return pods_of(component, pod)

    monkeypatch.setattr(whole_application, "PodsToJudge", counted)
    assert explained(explain, changed(tmp_path, "kafka", *replaced))[0]["verdict"] == "admitted"
    assert len(read) == len({*read}) > 0
