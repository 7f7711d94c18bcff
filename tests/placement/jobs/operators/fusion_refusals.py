"""What is wrong with the words of a refusal of a Job of operators: its smallest set of clauses, and its fixes.

The words are read as a user reads them, and followed in the Job or on the cluster.
"""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from tests.placement.jobs.operators.fusion_oracle import OPTIONS, Job, Oracle, expanded
from webhook.placement.jobs.job_verdict import JobVerdict

Nodes = Mapping[str, int]

LEGACY: Final = "legacy: true"
OTHER_SCHEME: Final = "set fusion.automatic in place of fusion.legacy"
NO_TYPE: Final = "set fusion.type to noChannelInfluence"
NO_FIX: Final = "no single change helps"
PARTLY: Final = " (not enough by itself)"

_ADDED: Final = re.compile(r"add (?:a|(?P<count>\d+)) nodes?(?: with cpu (?P<cpu>\S+) free)?")
_ALONE: Final = re.compile(
    r"^(?:operators? |  )(?P<names>Op.*?): (?P<clauses>.*?) cannot (?:both |all )?hold: .*?"
    r"Nearest fix: (?P<fixes>.*?)\.$",
    re.MULTILINE,
)
_MORE: Final = re.compile(r" and (?P<count>\d+) more$")
_STEP: Final = re.compile(
    r"drop (?P<dropped>host\(.*?\))|lower cpu \S+ to cpu (?P<lowered>\S+)"
    r"|add a node(?: named (?P<named>\S+))?(?: with cpu (?P<offered>\S+) to offer)?"
)


def wrong_words(verdict: JobVerdict, job: Job, nodes: Nodes) -> list[str]:
    """What is wrong with the refusal of the Job, which rightly is refused, before it is ``expanded``."""
    if verdict.refusal is None or verdict.of_element:
        return [*_of_single_operators(verdict.text, expanded(job), nodes)]
    clauses = verdict.refusal.clauses
    fixes = [str(fix) for fix in verdict.refusal.fixes]
    if judged(job, nodes).contradictory():
        found = _of_contradiction(clauses, job, nodes)
    else:
        found = _of_conflict(clauses, job, nodes)
    return [*found, *(f"does not help: {fix}" for fix in fixes if fix != NO_FIX and not _helps(fix, job, nodes))]


def judged(job: Job, nodes: Nodes) -> Oracle:
    """The oracle for the Job with an operator for each channel."""
    return Oracle(expanded(job), nodes)


def _of_conflict(clauses: Sequence[str], job: Job, nodes: Nodes) -> Iterator[str]:
    unknown = set(clauses) - set(stated(job))
    if unknown or not clauses:
        yield f"clauses that nobody stated: {sorted(unknown)}"
    if judged(with_only(job, clauses), nodes).can_run():
        yield "the clauses can hold"
    for clause in clauses:
        if not judged(with_only(job, set(clauses) - {clause}), nodes).can_run():
            yield f"not needed: {clause}"


def _of_contradiction(clauses: Sequence[str], job: Job, nodes: Nodes) -> Iterator[str]:
    """``restartable: true`` is said of operators that state nothing, and cannot be left out."""
    if not judged(with_only(job, clauses), nodes).contradictory():
        yield "the clauses can hold"
    for clause in set(clauses) & set(stated(job)):
        if judged(with_only(job, set(clauses) - {clause}), nodes).contradictory():
            yield f"not needed: {clause}"


def stated(job: Job) -> list[str]:
    """All that the Job states, in the words of a refusal."""
    texts = [LEGACY] if "legacy" in job["fusion"] else []
    texts += [f"type: {job['fusion']['type']}"] if "type" in job["fusion"] else []
    for operator in job["operators"]:
        said = operator.get("placement", "").split(", ") if "placement" in operator else []
        said += [f"{option}: false" for option in OPTIONS if option in operator]
        said += [f"cost {operator['cost']}"] if "cost" in operator else []
        texts += [f"{operator['name']}: {text}" for text in said]
    return texts


def with_only(job: Job, clauses: Iterable[str]) -> Job:
    """The Job that states these alone."""
    changed = copy.deepcopy(job)
    kept = set(clauses)
    if LEGACY not in kept:
        changed["fusion"].pop("legacy", None)
    if f"type: {changed['fusion'].get('type')}" not in kept:
        changed["fusion"].pop("type", None)
    for operator in changed["operators"]:
        name = operator["name"]
        said = [text for text in operator.pop("placement", "").split(", ") if f"{name}: {text}" in kept]
        operator.update({"placement": ", ".join(said)} if said else {})
        for option in OPTIONS:
            if f"{name}: {option}: false" not in kept:
                operator.pop(option, None)
        if f"{name}: cost {operator.get('cost')}" not in kept:
            operator.pop("cost", None)
    return changed


def _helps(fix: str, job: Job, nodes: Nodes) -> bool:
    """Whether the Job can run once the fix is made."""
    if fix == OTHER_SCHEME:
        fusion = {key: value for key, value in job["fusion"].items() if key == "type"}
        return judged(job | {"fusion": fusion}, nodes).can_run()
    if fix.removesuffix(PARTLY) == NO_TYPE:
        fusion = {key: value for key, value in job["fusion"].items() if key != "type"}
        changed = judged(job | {"fusion": fusion}, nodes)
        return not changed.contradictory() and changed.can_run() is not fix.endswith(PARTLY)
    if fix.startswith("drop "):
        dropped = fix.removeprefix("drop ").removesuffix(PARTLY)
        changed = judged(with_only(job, set(stated(job)) - {dropped}), nodes)
        return not changed.contradictory() and changed.can_run() is not fix.endswith(PARTLY)
    added = _ADDED.fullmatch(fix)
    assert added is not None, fix
    more = {f"new-{at}": _milli(added["cpu"] or "0") for at in range(int(added["count"] or 1))}
    return judged(job, {**nodes, **more}).can_run()


def _milli(amount: str) -> int:
    return int(amount[:-1]) if amount.endswith("m") else round(float(amount) * 1000)


def _of_single_operators(text: str, job: Job, nodes: Nodes) -> Iterator[str]:
    """All operators that no node can run are told of, each with clauses that no node meets, and with fixes."""
    oracle = Oracle(job, nodes)
    told: set[str] = set()
    beyond = 0
    operators = [one["name"] for one in job["operators"]]
    for line in _ALONE.finditer(text.replace("\n  1 node", " 1 node").replace("\nNearest", " Nearest")):
        names = line["names"].split(", ")
        if more := _MORE.search(names[-1]):
            names[-1] = names[-1][: more.start()]
            beyond += int(more["count"])
        told |= set(names)
        for name in names:
            at = operators.index(name)
            yield from _of_pod(*_pod(oracle, at), line["clauses"].split(" and "), line["fixes"].split(", or "), nodes)
    alone = {at for at in range(len(job["operators"])) if not _some_node(*_pod(oracle, at), nodes)}
    if not told <= {operators[at] for at in alone} or len(told) + beyond != len(alone) or not told:
        yield f"told of {sorted(told)} and {beyond} more instead of {sorted(alone)}"


def _pod(oracle: Oracle, at: int) -> tuple[set[str], int]:
    """The hosts and the CPU of what is fused with an operator in any case."""
    hosts = {clause for one in oracle.tied(at) for clause in oracle.said[one] if clause.startswith("host(")}
    return hosts, oracle.request(oracle.tied(at))


def _some_node(hosts: set[str], cpu: int, nodes: Nodes) -> bool:
    return any(cpu <= offered and all(name in clause for clause in hosts) for name, offered in nodes.items())


def _of_pod(hosts: set[str], cpu: int, clauses: Sequence[str], fixes: Sequence[str], nodes: Nodes) -> Iterator[str]:
    """What is wrong with the clauses and fixes of one pod on these hosts, of so much CPU."""
    kept = [(hosts & set(left), cpu if any(text.startswith("cpu ") for text in left) else 0) for left in (
        clauses, *([one for one in clauses if one != out] for out in clauses)
    )]  # fmt: skip
    if _some_node(*kept[0], nodes):
        yield f"the clauses can hold: {clauses}"
    if not all(_some_node(*smaller, nodes) for smaller in kept[1:]):
        yield f"not needed: one of {clauses}"
    for fix in fixes:
        steps = [*_STEP.finditer(fix)]
        assert steps, fix
        dropped = {step["dropped"] for step in steps}
        least = min([cpu, *(_milli(step["lowered"]) for step in steps if step["lowered"])])
        new = [step for step in steps if step[0].startswith("add")]
        more = {step["named"] or "new": _milli(step["offered"]) if step["offered"] else cpu for step in new}
        if not _some_node(hosts - dropped, least, {**nodes, **more}):
            yield f"does not help: {fix}"
