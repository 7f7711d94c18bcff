"""``streams-placement tour``: the real server, every example, and the end of both."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.examples import EXAMPLES, manifests
from tests.suite.untraced import untraced_processes
from webhook.cli import main
from webhook.cli.parsers import tour as tour_parser

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True, scope="module")
def _untraced() -> Iterator[None]:
    """The tour counts as coverage in this process, and its server in the tests of ``serve``."""
    with untraced_processes():
        yield


def toured(*words: str) -> str:
    """What the program shows, off a terminal."""
    command = (sys.executable, "-m", "webhook", "tour", *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ourselves
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def table() -> str:
    """What is shown by default."""
    return toured()


@pytest.fixture(scope="module")
def shown() -> str:
    """Every example in full."""
    return toured("--all")


def test_by_default_every_example_is_a_line_of_a_table(table: str) -> None:
    lines = table.splitlines()
    assert [line.split()[0] for line in lines[3 : lines.index("", 3)]] == [path.stem for path in manifests()]


@pytest.mark.parametrize(
    "row",
    [
        'colocation                   hostColocation("togeth...  admitted\n',
        (
            "refused-index                host(P1[5])                refused 403  "
            "host(P1[5]): HostPool P1 has 2 hosts, index 0 to 1\n"
        ),
        (
            "isolation                    Sink: partitionIsolati...  admitted     "
            "warning: partitionIsolation controls fusion, whi...\n"
        ),
        "mapping-gpu                  mapping.key: extra-har...  admitted\n",
        "isolation-neighbour          (The other elements of...  admitted\n",
    ],
    ids=["admitted", "refused", "warned of", "several annotations", "no annotation"],
)
def test_a_line_says_what_was_asked_and_what_came_of_it(table: str, row: str) -> None:
    assert f"\n{row}" in table


def test_three_of_them_are_shown_in_full_below(table: str) -> None:
    names = ("pool-tagged", "refused-pool-and-exlocation", "refused-replicas")
    assert [line.split(".yaml: ")[0] for line in table.splitlines() if ".yaml: " in line] == list(names)
    assert "\n3 of them in full; --all shows every one, --only PATTERN those of that name.\n" in table


def test_it_is_no_longer_than_a_person_reads_and_no_wider_than_a_page(table: str) -> None:
    assert table.count("\n") < 170
    assert max(map(len, table.splitlines())) <= 120


def test_in_full_only_lines_of_objects_are_wider(shown: str) -> None:
    assert {line.split(":")[0] for line in shown.splitlines() if len(line) > 120} == {"  +    streams.ibm.com/injected"}


def test_the_table_counts_what_was_sent_as_well(table: str, shown: str) -> None:
    assert table.splitlines()[-4:] == shown.splitlines()[-4:]


def test_every_example_is_shown(shown: str) -> None:
    assert [path.name for path in manifests() if f"\n{path.name}: " not in shown] == []


def test_the_patch_is_shown_as_added_lines(shown: str) -> None:
    assert "  +          - key: streams.ibm.com/hostpool\n" in shown


def test_a_refusal_is_shown_as_kubectl_would(shown: str) -> None:
    assert (
        "refused-index.yaml: Pod parallel-0-ioyms\n"
        "  An index beyond the size of the pool.\n"
        "  asked: streams.ibm.com/placement: host(P1[5])\n"
        "  refused with 403:\n"
        "  metadata.annotations[streams.ibm.com/placement]: host(P1[5]): HostPool P1 has 2 hosts, index 0 to 1\n"
        "    host(P1[5])\n"
        "    ^\n"
    ) in shown


def test_a_workload_is_refused_as_a_whole(shown: str) -> None:
    assert (
        "refused-replicas.yaml: Deployment parallel\n"
        "  A workload of more pods than there are nodes for, refused when it is submitted.\n"
        '  asked: streams.ibm.com/placement: hostExlocation("apart")\n'
        "  refused with 403:\n"
        '  hostExlocation("apart") and replicas 8 cannot both hold: 7 of 8 pods fit, one on each of 7 of 13 nodes.\n'
    ) in shown


def test_warnings_are_shown(shown: str) -> None:
    assert "  warning: partitionIsolation controls fusion, which is complete: it has no effect on the pod\n" in shown


def test_what_is_said_of_a_workload_is_shown_with_its_pod(shown: str) -> None:
    said = 'parallelism 8: 6 of 8 pods run at a time (hostExlocation("apart"), one on each of 6 of 13 nodes)'
    assert f"  warning: {said}\n" in shown


def test_the_end_counts_what_was_shown(shown: str) -> None:
    refused = sum(path.name.startswith("refused-") for path in manifests())
    admitted = len(manifests()) - refused
    assert shown.splitlines()[-4] == f"{len(manifests())} examples sent: {admitted} admitted, {refused} refused."


def test_it_ends_with_commands_to_go_on_with_that_can_be_typed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = tmp_path / "bin" / "streams-placement"
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", [str(called)])
    assert main(["tour", "--examples", str(tmp_path / "examples"), "--only", "pool-tagged"]) == 0
    said, explain, serve = capfd.readouterr().out.splitlines()[-3:]
    assert said == "The server has stopped. Next, the answer about one manifest, and a server that stays up:"
    assert explain == f"  {called} explain -f examples/pool-tagged.yaml --snapshot examples/cluster"
    assert serve == f"  {called} serve --snapshot examples/cluster --tls-self-signed"
    assert main(explain.split()[1:]) == 0


def test_a_folder_without_examples_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "--examples", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"streams-placement: {tmp_path} holds no examples: a folder cluster and manifests beside it\n"
    )


def test_a_server_that_does_not_start_is_trouble(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
    assert main(["tour", "--examples", str(tmp_path)]) == 3
    assert "the server did not start; its output is above" in capfd.readouterr().err


def test_in_this_process_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "cluster").symlink_to(EXAMPLES / "cluster")
    (tmp_path / "only-a-comment.yaml").write_text("# nothing\n# here\n")
    (tmp_path / "plain.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {a: b}}\n")
    for name in ("isolation.yaml", "refused-index.yaml", "deployment.yaml", "refused-daemonset.yaml"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    assert main(["tour", "--examples", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "5 examples sent: 3 admitted, 2 refused.\n" in out
    assert [line.split(".yaml: ")[0] for line in out.splitlines() if ".yaml: " in line] == [
        "deployment", "isolation", "plain",
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["refused-index", "refused-index.yaml", "*used-index.yaml", "refused-[i]ndex"])
def test_only_those_are_sent_whose_names_match(pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "--only", pattern]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[2], lines[-4]) == (
        "refused-index.yaml: Pod parallel-0-ioyms",
        "1 example sent: 0 admitted, 1 refused.",
    )


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("refused-indx", "did you mean refused-index?"),
        ("?", f"there are {', '.join(path.stem for path in manifests()[:3])} and {len(manifests()) - 3} more"),
    ],
)
def test_no_such_example_is_wrong_use(pattern: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "--only", pattern]) == 2
    assert capsys.readouterr().err == f'streams-placement: there is no example "{pattern}": {hint}\n'


def test_the_examples_are_those_of_the_repository() -> None:
    assert tour_parser.EXAMPLES == EXAMPLES
