"""Journals that go on where they ended, and the page about a run."""

from pathlib import Path

from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, MISSED_REFUSAL, FidelityResult
from tests.fidelity.journal import AT_FIRST, Journal, JournalEntry, entry
from tests.fidelity.random_scenarios import random_scenario
from tests.fidelity.report import page, summary

SEED = 3


def one(number: int, outcome: str = AGREED, kind: str = "job", why: str = "") -> JournalEntry:
    return JournalEntry(SEED, number, kind, ("host",), outcome != FALSE_REFUSAL, outcome, why, seconds=4.1)


def test_a_journal_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    Journal(file, SEED).add([one(0), one(1, CORNERED, why="it was late")])
    with file.open("a") as lines:
        lines.write('{"seed":3,"numb')
    again = Journal(file, SEED)
    assert again.entries == {0: one(0), 1: one(1, CORNERED, why="it was late")}
    assert Journal(file, SEED + 1).entries == {}


def test_without_a_file_a_journal_keeps_its_entries() -> None:
    journal = Journal(None, SEED)
    journal.add([one(5)])
    assert journal.entries == {5: one(5)}


def test_the_worst_come_first() -> None:
    journal = Journal(None, SEED)
    journal.add([one(1, CORNERED), one(4), one(3, FALSE_REFUSAL), one(2, MISSED_REFUSAL), one(0, CORNERED)])
    assert [found.number for found in journal.wrong] == [3, 2, 0, 1]


def test_only_what_is_wrong_says_why() -> None:
    scenario = random_scenario(SEED, 8)
    fine = entry(SEED, scenario, FidelityResult(AGREED, "long"), admitted=False)
    wrong = entry(SEED, scenario, FidelityResult(CORNERED, "long"), admitted=True)
    assert (fine.why, wrong.why, wrong.number, wrong.kind) == ("", "long", 8, scenario.kind)
    assert wrong.families == tuple(sorted(scenario.families()))


def test_the_page_counts_outcomes_and_lists_disagreements() -> None:
    journal = Journal(None, SEED)
    journal.add([one(0), one(1, kind="pod"), one(2, FALSE_REFUSAL, why="bound\n  although " + "xxx " * 99)])
    journal.add([one(3, CORNERED, why="HostPools P have others"), one(4, CORNERED)])
    text = page(journal, SEED)
    assert "5 scenarios of seed 3, 20 seconds of playing." in text
    assert "| admitted, and all pods run | 1 | 0 | 1 | 2 |" in text
    assert "| false refusal | 1 | 0 | 0 | 1 |" in text
    assert "| cornered | 2 | 0 | 0 | 2 |\n| ... by hosts of pools | 1 | 0 | 0 | 1 |" in text
    assert "| host | 2 | 0 | 1 | 0 | 0 | 2 |" in text
    assert "- false refusal, job 2: bound although xxx" in text
    assert " xxx xxx ...\n- cornered, job 3: HostPools P have others" in text
    assert summary([one(0), one(1), one(2, CORNERED)]) == "2 agreed, 1 cornered"


def test_missed_refusals_are_counted_by_their_causes() -> None:
    journal = Journal(None, SEED)
    plan = "by the verdict's own plan s1-pe0 cannot be on s1-n2: its pod affinity; s1-pe0-1 waits: no"
    journal.add([one(0, MISSED_REFUSAL, why=plan), one(1, MISSED_REFUSAL, why=plan), one(2, MISSED_REFUSAL, why="no")])
    assert "\n- 2: its pod affinity\n- 1: something else\n" in page(journal, SEED)


def test_a_page_without_disagreements_says_so_and_many_are_counted() -> None:
    journal = Journal(None, SEED)
    journal.add([one(0)])
    assert "None." in page(journal, SEED)
    journal.add(one(number, CORNERED) for number in range(50))
    assert "- and 10 more" in page(journal, SEED)


def test_what_agreed_when_it_was_played_again_is_listed_apart() -> None:
    journal = Journal(None, SEED)
    journal.add([one(0, CORNERED, why="it was late"), one(0, why=f"{AT_FIRST}{CORNERED}: it was late")])
    assert (journal.wrong, [found.number for found in journal.passing]) == ([], [0])
    assert "## Not seen again\n" in page(journal, SEED)
    assert "\n- job 0, at first cornered: it was late\n" in page(journal, SEED)
