"""Pods are turned away as a kubelet turns them away, by its own topology, CPU, memory and device managers."""

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from tests.e2e.programs import binaries
from tests.placement.numa.random_numa import Json, admitted, enough, random_question
from tests.suite.example_count import EVERY_DAY, TIMES

COUNT: Final = 180 if EVERY_DAY else round(2000 * TIMES)
"""Machines and pods for each comparison."""

TURNED: Final = "TopologyAffinityError"
"""The reason for which a topology manager turns a pod away."""

Ask = Callable[[Json], list[Any]]


@pytest.fixture(scope="module")
def kubelet() -> Iterator[Ask]:
    """Asks the kubelet's packages."""
    program = [str(binaries.topology_opinion())]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdin
        assert process.stdout
        questions, answers = process.stdin, process.stdout

        def ask(question: Json) -> list[Any]:
            questions.write(json.dumps(question) + "\n")
            questions.flush()
            answer: list[Any] = json.loads(answers.readline())
            return answer

        yield ask
        questions.close()


def drawn(name: str, containers: int | None = None) -> Iterator[Json]:
    """Questions about pods that fit on their machines but for zones."""
    source = random.Random(name if EVERY_DAY else None)  # noqa: S311 -- of examples
    count = COUNT
    while count:
        question = random_question(source, containers or source.randint(1, 4))
        if enough(question):
            count -= 1
            yield question


def test_a_pod_of_one_container_is_turned_away_exactly_as_by_the_kubelet(kubelet: Ask) -> None:
    turned = 0
    for question in drawn("one", 1):
        found, why = kubelet(question)
        turned += not found
        assert admitted(question, certain=False) is found, (question, why)
    assert turned > COUNT // 20


def test_so_is_a_pod_that_is_aligned_as_a_whole(kubelet: Ask) -> None:
    for question in drawn("pod"):
        question["Scope"] = "pod"
        found, why = kubelet(question)
        if found or why.startswith(TURNED):  # its managers may fail beyond that
            assert admitted(question, certain=False) is found, (question, why)


@pytest.mark.parametrize("by_socket", [False, True], ids=["by default", "with cores aligned by socket"])
def test_what_is_refused_the_kubelet_turns_away_whatever_its_options(kubelet: Ask, *, by_socket: bool) -> None:
    refused = 0
    for question in drawn(f"several {by_socket}"):
        question["AlignBySocket"] = by_socket and question["Policy"] != "single-numa-node"
        if not admitted(question, certain=True):
            refused += 1
            found, _ = kubelet(question)
            assert not found, question
    assert refused > COUNT // 20
