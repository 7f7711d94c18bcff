"""The constraint family that ``docs/architecture.md`` adds really is a file, its line in the list, and a word."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.commands import SECONDS, commands, pattern
from tests.docs.pages import ROOT, Block, blocks

pytestmark = pytest.mark.integration

PAGE = (ROOT / "docs" / "architecture.md",)


def python(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a Python program on the copy of the code; what it does there is not the coverage of the original."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMS_", "COV", "FORCE"))}
    return subprocess.run(  # noqa: S603 - our own programs, no shell
        (sys.executable, *arguments),
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def edited(code: str, diff: list[str]) -> str:
    """The code with the added lines put behind the lines that stand before them in the difference."""
    anchor = ""
    for line in diff:
        if line.startswith("+"):
            assert code.count(f"{anchor}\n") == 1, anchor
            code = code.replace(f"{anchor}\n", f"{anchor}\n{line[1:]}\n")
        anchor = line[1:]
    return code


def differences() -> Iterator[tuple[str, list[str]]]:
    """Each file that the page changes, and how."""
    for block in blocks("diff", PAGE):
        first, *diff = block.text.splitlines()
        yield first.removeprefix("--- "), diff


def source() -> Block:
    """The new file."""
    (found,) = blocks("python", PAGE)
    return found


MEMORY = "webhook/placement/constraints/hardware/host_memory.py"

SECOND: Final = {
    "webhook/placement/constraints/families.py": (
        ("import cpu_binding, devices, numa,", "import cpu_binding, devices, host_memory, numa,"),
        ("    host.parse,\n", "    host.parse,\n    host_memory.parse,\n"),
    ),
    "webhook/placement/spl/clauses.py": (('    ZONE = "zone"\n', '    ZONE = "zone"\n    MEMORY = "hostMemory"\n'),),
}
"""What a second family, ``host_memory.py`` beside this file, takes as well."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code with both families."""
    folder = tmp_path_factory.mktemp("family")
    shutil.copytree(ROOT / "webhook", folder / "webhook", ignore=shutil.ignore_patterns("__pycache__"))
    first, code = source().text.split("\n", 1)
    (folder / first.removeprefix("# ")).write_text(code)
    for name, diff in differences():
        file = folder / name
        file.write_text(edited(file.read_text(), diff))
    shutil.copy(Path(__file__).with_name("host_memory.py"), folder / MEMORY)
    for name, places in SECOND.items():
        file = folder / name
        for old, new in places:
            assert file.read_text().count(old) == 1, old
            file.write_text(file.read_text().replace(old, new))
    return folder


def judged(copy: Path, placement: str, spec: str = "") -> dict[str, Any]:
    """How the copy judges a pod with this placement text and these further fields of its spec, as JSON."""
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, labels: {streams.ibm.com/job: j, "
        f"streams.ibm.com/pe: j-0}}, annotations: {{streams.ibm.com/placement: '{placement}'}}}}\n"
        f"spec: {{{spec}containers: [{{name: c, image: x}}]}}\n"
    )
    return json.loads(python(copy, "-c", _JUDGE, str(ROOT / "examples" / "cluster"), text=pod).stdout)  # type: ignore[no-any-return]


_JUDGE: Final = """
import json, pathlib, sys, msgspec, yaml
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
inventory = Inventory()
read_snapshot(pathlib.Path(sys.argv[1]), inventory)
pod = msgspec.convert(yaml.safe_load(sys.stdin.read()), Pod)
decision = decide(pod, "default", World(inventory, Policy()))
print(json.dumps({"text": decision.message, "rules": decision.rules}))
"""
"""Program that prints the text and the rules of a pod's refusal."""


def test_the_family_changes_two_files_by_three_lines() -> None:
    added = {name: sum(line.startswith("+") for line in diff) for name, diff in differences()}
    assert added == {"webhook/placement/constraints/families.py": 2, "webhook/placement/spl/clauses.py": 1}


def test_a_pod_is_refused_as_the_page_shows(copy: Path) -> None:
    (shown,) = (block for block in blocks("text", PAGE) if block.text.startswith("$ "))
    (command,) = commands(shown)
    pod = (ROOT / "examples" / "pool-tagged.yaml").read_text().replace("host(MyPool)", 'host(MyPool), zone("wdc04")')
    snapshot = ROOT / "examples" / "cluster"
    done = python(copy, "-m", "webhook", "explain", "-f", "/dev/stdin", "--snapshot", str(snapshot), text=pod)
    assert done.stderr == ""
    assert pattern(command.shown).fullmatch(done.stdout), done.stdout


def test_a_pod_is_given_the_zone(copy: Path) -> None:
    pod = (ROOT / "examples" / "pool-tagged.yaml").read_text().replace("host(MyPool)", 'zone("dal10")')
    snapshot = ROOT / "examples" / "cluster"
    done = python(copy, "-m", "webhook", "explain", "-f", "/dev/stdin", "--snapshot", str(snapshot), text=pod)
    added = [line.strip() for line in done.stdout.splitlines() if line.startswith("  +")]
    assert added[-4:] == [
        "+          - key: topology.kubernetes.io/zone",
        "+            operator: In",
        "+            values:",
        "+            - dal10",
    ]


ELSEWHERE = "nodeSelector: {topology.kubernetes.io/zone: dal10}, "

REFUSED = {
    "a zone that there is not": (
        'zone("nowhere")',
        "",
        ["zone"],
        'add a node in zone nowhere, or drop zone("nowhere") (8 nodes would fit)',
    ),
    "a node there would not have the label that the pod selects": (
        'zone("nowhere")',
        ELSEWHERE,
        ["zone"],
        'drop zone("nowhere") (8 nodes would fit)',
    ),
    "no node is in two zones": (
        'zone("dal10"), zone("nowhere")',
        "",
        ["zone"],
        'drop zone("nowhere") (8 nodes would fit)',
    ),
    "more memory than any node has": (
        'hostMemory("64Ti")',
        "",
        ["host-memory"],
        'add a node with 64Ti of memory, or drop hostMemory("64Ti") (8 nodes would fit)',
    ),
    "two families": (
        'hostMemory("64Ti"), zone("nowhere")',
        "",
        ["host-memory"],
        'drop hostMemory("64Ti") and zone("nowhere") (8 nodes would fit)',
    ),
}


@pytest.mark.parametrize(("placement", "spec", "rules", "fix"), REFUSED.values(), ids=REFUSED)
def test_fixes_and_rules_of_a_new_family_are_right(
    copy: Path, placement: str, spec: str, rules: list[str], fix: str
) -> None:
    found = judged(copy, placement, spec)
    assert found["text"].splitlines()[-1] == f"Nearest fix: {fix}."
    assert found["rules"] == rules


def test_the_code_passes_the_type_checker(copy: Path) -> None:
    files = ("webhook/placement/constraints/hosts/zone.py", "webhook/placement/constraints/families.py")
    done = python(copy, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files)
    assert done.stdout == "Success: no issues found in 2 source files\n"


def test_the_code_passes_the_linter(copy: Path) -> None:
    file = copy / "webhook" / "placement" / "constraints" / "hosts" / "zone.py"
    configuration = ("--config", str(ROOT / "pyproject.toml"), "--no-cache")
    done = python(copy, "-m", "ruff", "check", *configuration, str(file))
    assert done.stdout == "All checks passed!\n"
