"""``python -m tools.conditions HELM``: write ``docs/conditions.md``, what the API server evaluates of the chart.

The page has every entry of the webhook configurations and every ValidatingAdmissionPolicy that helm renders from the
chart with the values of ``VALUES``, part by part.
"""

import itertools
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

Manifest: TypeAlias = Mapping[str, Any]

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "conditions.md"

VALUES: Final = {
    "settings": {"guardBindings": True},
    "webhook": {"namespaceSelector": {"matchLabels": {"streams": "on"}}},
    "workloads": {"kinds": ["RayCluster", "LeaderWorkerSet"]},
}
"""With these, every entry and every policy is there."""

PURPOSES: Final[Mapping[str, str]] = {
    "mutating pods": (
        "Pods that ask for hosts are decided and patched. Others that come with a seal, which only the webhook "
        "writes, are refused. Static pods are not: kubelets run them already."
    ),
    "mutating namespaces": (
        "The other pods of namespaces with the label `streams.ibm.com/inject: enabled`, for which an HPAIntent may ask."
    ),
    "validating pods": (
        "A pod with a [seal](admission.md#the-label-seal) is reviewed again if another admission plugin has "
        "changed it since: the weighted sum of its characters is not that of the seal."
    ),
    "validating guard": (
        "A pod without a seal could get round the taint of exclusive hosts: it names its node, or tolerates every "
        "taint."
    ),
    "validating tolerations": (
        "An update of a pod adds a toleration of every taint, or opens or moves a pod that waited at a scheduling "
        "gate and tolerates exclusive hosts."
    ),
    "validating hostpools": "The spec of a HostPool is new or another one.",
    "validating hpaintents": "The spec of an HPAIntent is new or another one.",
    "validating jobs": "The spec of a Job is new or another one.",
    "validating pes": (
        "The spec of a ProcessingElement is new or another one, and it is written by another user than the controller."
    ),
    "validating parallelregions": (
        "A parallel region is new or gets more channels, and it is written by another user than the controller."
    ),
    "validating workloads": (
        "The template of a workload asks for hosts or has a seal, or the workload asks in the wrong place, and it is "
        "new, grows, or says something else than before."
    ),
    "validating namespaces": "The other workloads of namespaces with the label `streams.ibm.com/inject: enabled`.",
    "validating workload-guard": (
        "The template of a workload that asks for nothing names a node or tolerates every taint."
    ),
    "validating daemons": "The template of a DaemonSet newly tolerates every taint, or chooses other nodes then.",
    "validating nodes": (
        "Labels, taints or `unschedulable` of a node are changed by another user than Kubernetes and the controller: "
        "a pool may break."
    ),
    "validating bindings": "A pod is bound to a node (`settings.guardBindings`, `settings.strict`).",
    "validating applications": (
        "An application of another operator, of a kind that `workloads.kinds` names, asks for placement, and is new or "
        "changed. Each kind has a branch of its own in `asks-anew`, as RayCluster and LeaderWorkerSet do here, in two "
        "forms. The first one is cheap, and all that is evaluated for objects that ask for nothing. Another value in "
        "place of an object is an error of it, which does not count, because the second form is false then."
    ),
    "validating application-scales": (
        "Such an application gets more pods by its subresource `scale`, if its kind has one. What does not fit is a "
        "warning, and waits."
    ),
    "policy protected": (
        "Once the pod exists, what the webhook read and wrote cannot be changed, no toleration of exclusive hosts can "
        "be added, and exclusive cores cannot be resized."
    ),
    "policy bindings": "A binding cannot bring along what a pod itself may not change.",
    "policy created": (
        "A pod that asks for hosts has been reviewed, one that does not ask tolerates no exclusive host, and the "
        "controller creates pods of processing elements only."
    ),
    "policy templates": "The same of templates of workloads, where a user reads it.",
    "policy nodes": "Labels and taints by which a node belongs to a pool are the controller's.",
    "policy controller": (
        "Somebody with the controller's token can change which pool a node belongs to, and nothing else."
    ),
    "policy statuses": "Statuses and finalizers of the chart's kinds are the controller's.",
    "policy objects": "What the controller creates belongs to a Job, and it deletes pods of processing elements only.",
    "policy questions": "The webhook's account stores nothing.",
    "policy authors": "Users whose Jobs make the controller create pods may create pods themselves.",
    "policy elements": "The first rule of `...-created` in all namespaces (`webhook.namespaceSelector`, audit mode).",
}
"""What each entry and policy looks for, by kind and name."""

_HEAD: Final = """\
# Conditions

<!-- Made by make conditions from the templates of the chart. -->

What the API server evaluates for the chart by itself, in [CEL](https://kubernetes.io/docs/reference/using-api/cel/):
for each request only the entries and policies whose rules, namespaces and labels match it. An entry sends the request
to the webhook if its condition holds; a policy looks closer if its condition holds, and refuses if a validation does
not. What they cost is in [performance](performance.md#objects-that-ask-for-nothing), what prevents which attack in
[security](security.md).

The page shows a release `streams-placement` in the namespace `streams-system`, with `settings.guardBindings` and a
`webhook.namespaceSelector`; without these the entry `bindings` and the policy `...-elements` are left out.
"""

_WIDTH: Final = 120
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_SECONDS: Final = 60


def rendered(helm: Path) -> list[Manifest]:
    """The manifests of an installation with ``VALUES``."""
    chart = str(REPOSITORY / "charts" / "streams-placement")
    command = (str(helm), "template", "streams-placement", chart, "--namespace", "streams-system", "--values", "-")
    done = subprocess.run(  # noqa: S603 -- helm, no shell
        command, check=True, capture_output=True, text=True, input=json.dumps(VALUES), timeout=_SECONDS
    )
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def page(manifests: Sequence[Manifest]) -> str:
    """The whole page; raises ``KeyError`` for an entry or a policy whose purpose is not in ``PURPOSES``."""
    parts = [_HEAD]
    for kind, title in (("Mutating", "mutating"), ("Validating", "validating")):
        parts.append(f"\n## Entries of the {kind}WebhookConfiguration\n")
        for one in _of_kind(manifests, f"{kind}WebhookConfiguration"):
            parts += (_entry(title, entry) for entry in one["webhooks"])
    parts.append("\n## Policies\n")
    parts += map(_policy, _of_kind(manifests, "ValidatingAdmissionPolicy"))
    return "".join(parts)


def _of_kind(manifests: Sequence[Manifest], kind: str) -> list[Manifest]:
    return [one for one in manifests if one["kind"] == kind]


def _entry(title: str, entry: Manifest) -> str:
    name = entry["name"].partition(".")[0]
    selector = entry.get("objectSelector", {}).get("matchExpressions", ())
    labels = "".join(f", `{one['key']}` {one['operator']}" for one in selector)
    facts = f"{_rules(entry['rules'])}{labels}. `failurePolicy: {entry['failurePolicy']}`."
    return _section(f"{title} {name}", facts) + _conditions(entry)


def _policy(policy: Manifest) -> str:
    name, spec = policy["metadata"]["name"].removeprefix("streams-placement-"), policy["spec"]
    facts = f"{_rules(spec['matchConstraints']['resourceRules'])}. `failurePolicy: {spec['failurePolicy']}`."
    text = _section(f"policy {name}", facts) + _conditions(spec)
    for variable in spec.get("variables", ()):
        text += _fenced(f"Variable `{variable['name']}`:", variable["expression"])
    for validation in spec["validations"]:
        text += _fenced("Must hold:", validation["expression"])
    return text


def _section(name: str, facts: str) -> str:
    """The heading of an entry or a policy, what it is for, and which requests it is about."""
    texts = (textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in (PURPOSES[name], facts))
    return f"\n### {name}\n\n" + "".join(f"{text}\n\n" for text in texts).removesuffix("\n")


def _rules(rules: Sequence[Manifest]) -> str:
    """Which requests: ``CREATE of pods``, and so on."""
    said = (
        f"{' and '.join(rule['operations'])} of {', '.join(f'`{resource}`' for resource in rule['resources'])}"
        for rule in rules
    )
    return "; ".join(said)


def _conditions(one: Manifest) -> str:
    return "".join(
        _fenced(f"Condition `{condition['name']}`:", condition["expression"]) for condition in one["matchConditions"]
    )


def _fenced(title: str, expression: str) -> str:
    return f"\n{title}\n\n```text\n" + "\n".join(laid_out(" ".join(expression.split()))) + "\n```\n"


def laid_out(expression: str, indent: int = 0) -> Iterator[str]:
    """The expression in lines, broken before ``&&``, ``||``, ``?`` and ``:``, and inside of its longest brackets."""
    if len(expression) + indent <= _WIDTH:
        yield " " * indent + expression
        return
    parts = split(expression)
    if len(parts) > 1:
        for part in parts:
            yield from laid_out(part, indent)
        return
    opening, closing = _longest(expression)
    if closing - opening < 2:  # noqa: PLR2004 -- nothing is between the brackets
        yield " " * indent + expression
        return
    *before, last = laid_out(expression[:opening], indent)
    yield from before
    yield last + expression[opening]
    yield from laid_out(expression[opening + 1 : closing].strip(), indent + 2)
    yield from laid_out(expression[closing:], indent)


def split(expression: str) -> list[str]:
    """The parts of an expression: those of its loosest operator outside of brackets and texts, or of a list."""
    for operators in (r" (?=[?:] )", r" (?=\|\| )", r" (?=&& )", r"(?<=,) ", r" (?=\+ )"):
        places = [at for at, depth in _depths(expression) if depth == 0 and re.compile(operators).match(expression, at)]
        if places:
            bounds = [0, *places, len(expression)]
            return [expression[begin:end].strip() for begin, end in itertools.pairwise(bounds)]
    return [expression]


def _longest(expression: str) -> tuple[int, int]:
    """Where the longest outermost pair of brackets opens and closes; equal places if there is none."""
    best, opened = (0, 0), 0
    before = 0
    for at, depth in _depths(expression):
        if before == 0 and depth == 1:
            opened = at
        if before == 1 and depth == 0 and expression[at] in _CLOSING and at - opened > best[1] - best[0]:
            best = opened, at
        before = depth
    return best


def _depths(expression: str) -> Iterator[tuple[int, int]]:
    """Each place, and how many brackets are open after it; within a text, one more than outside of it."""
    depth, quoted = 0, False
    for at, character in enumerate(expression):
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += (character in _OPENING) - (character in _CLOSING)
        yield at, depth + 1000 * quoted


if __name__ == "__main__":
    PAGE.write_text(page(rendered(Path(sys.argv[1]))))
