"""``python -m tools.convert_census DIR``: convert all SPL programs of a folder, and account for each host clause.

Each program is converted by itself, by itself with a clause of its own put into every operator invocation, and together
with all others of the same folder directly below ``DIR`` (a repository, say). Host clauses are counted by a lexer that
shares nothing with the converter: a clause is on an operator of the manifests, or a remark at its line is about it, or
its program is refused. The exit code is 1 if a conversion raised an exception, or if a clause is none of these.
"""

import argparse
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from webhook.convert.conversion import ConvertOptions, Input, convert
from webhook.convert.findings import Conversion
from webhook.convert.input_kind import InputKind

_SKIPPED: Final = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_PLACEMENT: Final = re.compile(r"\bplacement\s*:(?P<clauses>[^;]*)")
_CLAUSE: Final = re.compile(
    r"""\b(?P<word>hostColocation|hostExlocation|hostIsolation|host)\b
        (?:\s*\(\s*(?:(?P<quote>["'])(?P<literal>[A-Za-z0-9_.-]+)(?P=quote)\s*\)|(?P<all>\$default\b))?)?""",
    re.VERBOSE,
)
_INVOCATION: Final = re.compile(r"(?:\bas\s+\w+|>\s*\w+|\))\s*=\s*[\w.:$]+\s*\([^(){}]*\)\s*\{")
_NAMES: Final = re.compile(r'"[^"]*"|\b\d+\b')


class HostClause(NamedTuple):
    """A host clause of a program: its line, its word, and its argument if that is a plain text or ``$default``."""

    line: int
    word: str
    literal: str


class Outcome(NamedTuple):
    """What became of a program: ``converted``, ``lost``, ``library``, ``refused`` or ``crashed``, with the reason."""

    what: str
    why: str
    clauses: Counter[str]


def host_clauses(text: str) -> Iterator[HostClause]:
    """The host clauses of a program, by its characters alone: comments are blanks, and strings end no clause."""
    bare = _SKIPPED.sub(_plain, text)
    inside = {place for string in _SKIPPED.finditer(bare) for place in range(*string.span())}
    for placement in _PLACEMENT.finditer(bare):
        for clause in _CLAUSE.finditer(placement["clauses"]):
            place = placement.start("clauses") + clause.start()
            if inside.isdisjoint({placement.start(), place}):
                line = bare.count("\n", 0, place) + 1
                yield HostClause(line, clause["word"], clause["literal"] or clause["all"] or "")


def _plain(match: re.Match[str]) -> str:
    """A comment as blanks, and a string with blanks in place of what might be read as syntax."""
    if match["comment"]:
        return re.sub(r"[^\n]", " ", match.group())
    return match.group()[0] + re.sub(r"[^\w.\n-]", " ", match.group()[1:-1]) + match.group()[-1]


def placed_everywhere(one: Input) -> Input:
    """The program with ``hostExlocation("made-up-3")`` in the body of every operator invocation."""
    text = one.content.decode(errors="replace")
    pieces, position = [], 0
    for number, invocation in enumerate(_INVOCATION.finditer(_SKIPPED.sub(_plain, text))):
        pieces += [text[position : invocation.end()], f' config placement: hostExlocation("made-up-{number}"); ']
        position = invocation.end()
    return Input(one.name, "".join([*pieces, text[position:]]).encode(), one.kind)


def outcome(one: Input, conversion: Conversion) -> Outcome:
    """What became of a program, and of its host clauses."""
    clauses = list(host_clauses(one.content.decode(errors="replace")))
    if conversion.problems:
        why = _NAMES.sub("…", conversion.problems[0].message)
        return Outcome("refused", why, Counter({"refused": len(clauses)}))
    placed = _placed(conversion.manifests)
    noted = [(remark.at.line, remark.what) for remark in conversion.remarks if remark.at.file == one.name]
    counts = Counter(_account(clause, placed, noted) for clause in clauses)
    lost = any(remark.demand for remark in conversion.remarks)
    return Outcome("lost" if lost else "converted" if conversion.manifests else "library", "", counts)


def _placed(manifests: Sequence[Mapping[str, Any]]) -> str:
    """The placement of all operators."""
    jobs = [one["spec"] for one in manifests if one["kind"] == "Job"]
    operators = [one for job in jobs for one in job["operators"]]
    return "\n".join(one.get("placement", "") for one in operators)


def _account(clause: HostClause, placed: str, noted: Sequence[tuple[int, str]]) -> str:
    """Where a clause is: on an operator, in a remark at its line or at the beginning of its config, or nowhere."""
    if clause.literal == "$default":
        return "without constraint"
    argument = rf'\("{re.escape(clause.literal)}"\)' if clause.literal else ""
    if re.search(rf"\b{clause.word}\b{argument}", placed):
        return "on operators"
    if any(clause.line - 3 <= line <= clause.line and clause.word in what for line, what in noted):
        return "in remarks"
    return "silent"


def census(inputs: Sequence[Input]) -> Iterator[tuple[Input, Outcome]]:
    """The outcome of each program, converted together; those that are refused are left out, and the others stay."""
    group = list(inputs)
    while group:
        try:
            conversions = convert(group, ConvertOptions())
        except Exception:  # noqa: BLE001 -- any exception is what is looked for
            why = traceback.format_exc().strip().rpartition("\n")[2]
            yield from ((one, Outcome("crashed", why, Counter())) for one in group)
            return
        outcomes = [(one, outcome(one, conversion)) for one, conversion in zip(group, conversions, strict=True)]
        refused = [(one, what) for one, what in outcomes if what.what == "refused"]
        yield from refused or outcomes
        group = [one for one, what in outcomes if what.what != "refused"] if refused else []


def read_folder(folder: Path) -> dict[str, list[Input]]:
    """The programs in a folder and below, by the name of the folder directly below it."""
    inputs_of: dict[str, list[Input]] = {}
    for path in sorted(folder.rglob("*.spl")):
        if path.is_file():
            name = str(path.relative_to(folder))
            inputs_of.setdefault(name.partition("/")[0], []).append(Input(name, path.read_bytes(), InputKind.SPL))
    return inputs_of


def report(title: str, outcomes: Iterable[tuple[Input, Outcome]]) -> int:
    """Print the counts; returns how many programs and clauses were not dealt with."""
    known = list(outcomes)
    programs = Counter(ending.what for _, ending in known)
    reasons = Counter(f"{ending.what}: {ending.why}" for _, ending in known if ending.why)
    clauses = sum((ending.clauses for _, ending in known), Counter[str]())
    lines = [f"{title}: {len(known)} programs, {clauses.total()} host clauses"]
    lines += [f"  {count:5} {what}" for what, count in programs.most_common()]
    lines += [f"  {count:5} host clauses {what}" for what, count in clauses.most_common()]
    lines += [f"  {count:5} {reason}" for reason, count in reasons.most_common()]
    lines += [f"        silent: {one.name}" for one, ending in known if ending.clauses["silent"]]
    print("\n".join(lines))  # noqa: T201 -- this is a command
    return programs["crashed"] + clauses["silent"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert the programs of the folder; returns 1 if one raised an exception, or dropped a clause in silence."""
    parser = argparse.ArgumentParser(description="Convert every SPL program of a folder, and account for host clauses.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="A folder of repositories with SPL programs.")
    folders = read_folder(parser.parse_args(arguments).folder)
    every = [one for inputs in folders.values() for one in inputs]
    wrong = report("one by one", (ending for one in every for ending in census([one])))
    wrong += report(
        "with a clause in every invocation", (ending for one in every for ending in census([placed_everywhere(one)]))
    )
    wrong += report("by folder", (ending for inputs in folders.values() for ending in census(inputs)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
