"""Problems of the spec of a Job or of a ProcessingElement that are independent of the cluster (``docs/jobs.md``).

The CustomResourceDefinitions have those of the rules that a schema can express; admission checks all of them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from webhook.placement.elements.element_order import own_annotations, own_placement, placement_text
from webhook.placement.elements.environment import VALUES_LIMIT, values_text
from webhook.placement.elements.option_problems import one_of, problems_of_options
from webhook.placement.elements.pod_template import nested_too_deeply, read_template
from webhook.placement.field_rules.element_patterns import GITHUB_URL
from webhook.placement.field_rules.rules import broken, rules_of
from webhook.placement.jobs.operator_problems import problems_of_operators
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.quantity import NANO, parse_quantity
from webhook.placement.kube.resource_name import CPU
from webhook.placement.kube.size_limits import NESTING_LIMIT
from webhook.placement.objects.jobs.job_operators import OPERATOR_NAME
from webhook.placement.objects.jobs.job_resources import divided, problems_of_resources
from webhook.placement.objects.jobs.job_spec import (
    ELEMENT_LIMIT,
    Bundle,
    ElementSpec,
    JobSpec,
    OperatorSpec,
    ProcessingElementSpec,
    ThreadingModel,
    element_name,
)
from webhook.placement.objects.pool_spec import HostPoolSpec, problems_of_spec
from webhook.placement.provision.grants import BINDING
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.placement import TEXT_LIMIT, is_operator, parse_placement, problems_together
from webhook.placement.spl.reader import unreadable
from webhook.placement.text import keys
from webhook.placement.text.decoder_words import decoder_problem
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.problem import Problem, counted, quote

POOL_LIMIT: Final = 100
"""HostPools that one Job declares (``docs/operations.md``, limits)."""

OPERATOR_LIMIT: Final = 1000
"""Operators of one processing element."""

ISOLATION_LIMIT: Final = 1000
"""Clauses ``hostIsolation`` of one Job: every other pod of the Job gets a label for each (``docs/isolation.md``)."""

_GITHUB: Final = re.compile(GITHUB_URL, re.ASCII)
"""A file of a repository in version 3 of the GitHub API."""

_STATED: Final = tuple(name for name, _, rule in rules_of(JobSpec) if rule is not None)
"""The fields of a Job that have a rule."""

_SEPARATOR: Final = re.compile(r"[^a-z0-9]+", re.ASCII)
"""What stands between letters and digits of a pool's name."""

_ELEMENTS: Final = "spec.processingElements"
_TEMPLATE_PATH: Final = "template.spec"

TEMPLATE_PLACEMENT: Final = f"template.metadata.annotations[{keys.PLACEMENT}]"
"""Where the template of an element has a placement text of its own."""


def problems_of_job(name: str, spec: JobSpec) -> Iterator[Problem]:
    """A problem for each rule that a Job of that name breaks; the name may be empty if it is not known yet."""
    return (problem for problem in problem_steps(name, spec) if problem is not None)


def problem_steps(name: str, spec: JobSpec) -> Iterator[Problem | None]:
    """Each problem of the Job, and ``None`` after each step of the search, so that other work can run."""
    yield from _submission(spec)
    if spec.processing_element is not None:
        yield from problems_of_options(spec.processing_element, "spec.processingElement")
    yield from _pools(name, spec.host_pools or ())
    yield from problems_of_operators(name, spec)
    yield from _operator_templates(spec)
    elements = spec.processing_elements or ()
    if len(elements) > ELEMENT_LIMIT:
        yield Problem(_ELEMENTS, f"{len(elements)} of them, at most {ELEMENT_LIMIT} are allowed")
        return
    for place, element in enumerate(elements):
        yield None
        yield from _element(element, f"{_ELEMENTS}[{place}]", element_name(name or "job", place, element))
        if element.template is None and not spec.bundle:
            message = "missing, and the element has no template: the Streams runtime needs a bundle to run"
            yield Problem("spec.bundle", message)
            break
    yield from _isolations(elements)
    names = [element_name(name, place, element) for place, element in enumerate(elements)]
    yield from _twice(names, [f"{_ELEMENTS}[{place}].name" for place in range(len(names))])
    yield None
    yield from _operators(elements)
    yield from _resources(spec, elements)


def problems_of_element(name: str, spec: ProcessingElementSpec) -> Iterator[Problem]:
    """A problem for each rule that a ProcessingElement object of that name breaks by itself."""
    yield from broken(spec, "spec", "job", "launch_count", "content_id")
    if name and spec.name is not None and spec.name != name:
        yield Problem("spec.name", f"{quote(spec.name)} is not metadata.name, which it must equal")
    yield from _element(spec, "spec", name)


def problems_of_nesting(elements: Iterable[tuple[str, ElementSpec]]) -> Iterator[Problem]:
    """A problem for each element, given with its path, whose template is nested too deeply to be handled."""
    for path, element in elements:
        if nested_too_deeply(element.template):
            yield Problem(f"{path}.template", f"nested too deeply: at most {NESTING_LIMIT} levels are allowed")


def _submission(spec: JobSpec) -> Iterator[Problem]:
    """Problems of the options of the Job itself."""
    if spec.bundle is not None:
        yield from _bundle(spec.bundle)
    if spec.fusion is not None:
        fusion = spec.fusion
        stated = {"automatic": fusion.automatic, "legacy": fusion.legacy, "manual": fusion.manual is not None}
        yield from one_of("spec.fusion", stated, "kind of fusion")
        yield from broken(fusion, "spec.fusion")
    if spec.threading_model is not None:
        yield from _threading(spec.threading_model)
    if spec.submission_time_values and (size := len(values_text(spec.submission_time_values).encode())) > VALUES_LIMIT:
        message = f"{size} bytes as JSON: a container can be started with at most {VALUES_LIMIT}"
        yield Problem("spec.submissionTimeValues", message)
    yield from broken(spec, "spec", *_STATED)


def _bundle(bundle: Bundle) -> Iterator[Problem]:
    stated = {"http": bundle.http is not None, "file": bundle.file is not None, "github": bundle.github is not None}
    yield from one_of("spec.bundle", stated, "source")
    wrong = tuple(broken(bundle, "spec.bundle"))
    yield from wrong
    if bundle.github is not None:
        url, secret, path = bundle.github.url, bundle.github.secret, "spec.bundle.github.url"
        if url is None:
            more = f"; the secret {quote(secret)} is for that url" if secret else ""
            yield Problem(path, f"missing: the location of the bundle{more}")
        elif secret and not _GITHUB.fullmatch(url) and all(problem.field != path for problem in wrong):
            form = "https://api.HOST/repos/USER/REPOSITORY/contents/PATH.sab"
            yield Problem(path, f"{quote(url)} does not have the form {form}, which a secret needs")


def _threading(model: ThreadingModel) -> Iterator[Problem]:
    stated = {
        "automatic": model.automatic,
        "dedicated": model.dedicated,
        "dynamic": model.dynamic is not None,
        "manual": model.manual,
    }
    yield from one_of("spec.threadingModel", stated, "threading model")
    yield from broken(model, "spec.threadingModel")


def _pools(job: str, pools: tuple[HostPoolSpec, ...]) -> Iterator[Problem | None]:
    """Problems of the pools that the Job declares, and ``None`` after each pool."""
    if len(pools) > POOL_LIMIT:
        yield Problem("spec.hostPools", f"{len(pools)} of them, at most {POOL_LIMIT} are allowed")
        return
    for place, pool in enumerate(pools):
        path = f"spec.hostPools[{place}]"
        if not pool.name:
            yield Problem(f"{path}.name", "missing: the name of the pool in host(...)")
        if pool.job and pool.job != job:
            yield Problem(f"{path}.job", f"{quote(pool.job)} is another Job: leave it out")
        for problem in problems_of_spec(pool):
            yield replace(problem, field=path + problem.field.removeprefix("spec"))
        yield None
    named = [(pool.name, f"spec.hostPools[{place}].name") for place, pool in enumerate(pools) if pool.name]
    yield from _twice([name for name, _ in named], [path for _, path in named])
    objects = [pool_object_name(job, name) for name, _ in named]
    distinct = {name for name, _ in named}
    if len(distinct) == len(named):
        yield from _twice(objects, [path for _, path in named], "makes the HostPool object {name}, as {earlier} does")


def pool_object_name(job: str, pool: str) -> str:
    """The name of the HostPool object of a Job's pool: the Job, and the pool's name in lower case.

    What a name of an object cannot hold becomes a hyphen. It has room for the name of any Job and pool.
    """
    text = _SEPARATOR.sub(lambda match: "." if match[0] == "." else "-", pool.lower()).strip("-.") or "pool"
    return f"{job}-{text}"


def _element(element: ElementSpec, path: str, name: str) -> Iterator[Problem]:
    """Problems of one processing element."""
    if not is_object_name(name) or len(name) > LABEL_LIMIT:
        message = f"{quote(name)} is not an object name of at most {LABEL_LIMIT} characters: a-z, 0-9, '-' and '.'"
        yield Problem("metadata.name" if path == "spec" else f"{path}.name", message)
    elif element.name == "" and path != "spec":
        yield Problem(f"{path}.name", "must not be empty")
    yield from problems_of_options(element, path)
    yield from broken(element, path, "connections")
    operators = element.operators or ()
    if len(operators) > OPERATOR_LIMIT:
        yield Problem(f"{path}.operators", f"{len(operators)} of them, at most {OPERATOR_LIMIT} are allowed")
        return
    texts = [problem for at, one in enumerate(operators) for problem in _operator(one, f"{path}.operators[{at}]")]
    own, where = own_placement(element), f"{path}.{TEMPLATE_PLACEMENT}"
    texts += parse_placement(own, where)[1] if own else ()
    yield from texts
    if not texts and operators:
        yield from _together(element, own, f"{path}.operators")
    deep = list(problems_of_nesting([(path, element)]))
    yield from deep
    if element.template is not None and not deep:
        yield from _template(element.template, path)


def _together(element: ElementSpec, own: str, path: str) -> Iterator[Problem]:
    """Problems of the placement text of the pod, which all operators share: it may say too much.

    The texts are right by themselves, so their clauses are counted instead of being read again.
    """
    problem = unreadable(placement_text(element, own), path, limit=TEXT_LIMIT) if _may_be_long(element, own) else None
    problems = [problem] if problem else problems_together(_clauses(element, own), path)
    for each in problems:
        yield Problem(path, f"the placement of all operators is one annotation of the pod: {each.message}")


def _may_be_long(element: ElementSpec, own: str) -> bool:
    """Whether the placement text of the pod may be over its limit: each character may become an escape of six."""
    texts = (len(one.name) + 6 * len(one.placement or "") + len(": ; ") for one in element.operators or ())
    return len(own.encode("utf-8", "surrogatepass")) + sum(texts) > TEXT_LIMIT


def _clauses(element: ElementSpec, own: str) -> Iterator[PlacementClause]:
    """All clauses of the element, each with its operator."""
    yield from parse_placement(own, "")[0] if own else ()
    for one in element.operators or ():
        for clause in parse_placement(one.placement, "")[0] if one.placement else ():
            yield replace(clause, operator=one.name)


def _operator(operator: OperatorSpec, path: str) -> Iterator[Problem]:
    """Problems of an operator: its name is one as placement texts have it, its placement is about itself."""
    if not is_operator(operator.name):
        yield Problem(f"{path}.name", f"{quote(operator.name)} is not an operator name, such as Main.Sink[0]")
    else:
        yield from OPERATOR_NAME.problems(f"{path}.name", operator.name)
    if not operator.placement:
        return
    clauses, problems = parse_placement(operator.placement, f"{path}.placement")
    yield from problems
    for clause in clauses if not problems else ():
        if clause.operator and clause.operator != operator.name:
            message = f"{quote(clause.operator)} is another operator: each has a placement of its own"
            yield Problem(f"{path}.placement", message, operator.placement, clause.offset)


def _template(template: object, path: str) -> Iterator[Problem]:
    """Problems of a pod template, as far as they are not the API server's; the template is not nested too deeply."""
    try:
        pod = read_template(template)
    except msgspec.ValidationError as error:
        yield decoder_problem(error, template, f"{path}.template.")
        return
    spec = template.get("spec") if isinstance(template, dict) else None
    if not isinstance(spec, dict) or pod.spec is None or not pod.spec.containers:
        yield Problem(f"{path}.{_TEMPLATE_PATH}.containers", "missing: a pod needs a container")
        return
    policy = spec.get("restartPolicy", "Never")
    if policy != "Never":
        message = f"{quote(str(policy))} is not Never: restartFailedPod and restartCompletedPod"
        yield Problem(f"{path}.{_TEMPLATE_PATH}.restartPolicy", f"{message} decide whether a pod is restarted")
    for at, container in enumerate(pod.spec.containers):
        if not container.name:
            yield Problem(f"{path}.{_TEMPLATE_PATH}.containers[{at}].name", "missing: a container needs a name")
    labels = (pod.metadata and pod.metadata.labels) or {}
    for key in sorted(key for key in labels if key.startswith(keys.PREFIX)):
        yield Problem(f"{path}.template.metadata.labels[{key}]", "is set for the pods of a Job, and cannot be stated")


def _operator_templates(spec: JobSpec) -> Iterator[Problem | None]:
    """Problems of the templates of operators that are yet to be fused, and of the bundle that the others need."""
    for place, operator in enumerate(spec.operators or ()):
        if operator.template is None:
            continue
        yield None
        path = f"spec.operators[{place}]"
        if nested_too_deeply(operator.template):
            yield Problem(f"{path}.template", f"nested too deeply: at most {NESTING_LIMIT} levels are allowed")
        else:
            yield from _template(operator.template, path)
    if not spec.bundle and any(operator.template is None for operator in spec.operators or ()):
        message = "missing, and an operator has no template: the Streams runtime needs a bundle to run"
        yield Problem("spec.bundle", message)


def _isolations(elements: Iterable[ElementSpec]) -> Iterator[Problem]:
    """A problem if more operators are isolated than pods can have labels for."""
    isolations = sum(
        ClauseName.ISOLATION.value in (operator.placement or "")
        for element in elements
        for operator in element.operators or ()
    )
    if isolations > ISOLATION_LIMIT:
        yield Problem(_ELEMENTS, f"{isolations} operators with hostIsolation, at most {ISOLATION_LIMIT} are allowed")


def _operators(elements: Iterable[ElementSpec]) -> Iterator[Problem]:
    """Operators of one name: in SPL an operator is fused into one processing element."""
    operators = [
        (operator.name, f"{_ELEMENTS}[{place}].operators[{at}].name")
        for place, element in enumerate(elements)
        for at, operator in enumerate(element.operators or ())
    ]
    yield from _twice([name for name, _ in operators], [path for _, path in operators])


def _resources(spec: JobSpec, elements: tuple[ElementSpec, ...]) -> Iterator[Problem]:
    """Problems of the Job's own resources, and of each element's share of them."""
    if spec.resources is None:
        return
    wrong = list(problems_of_resources(spec.resources, "spec.resources"))
    yield from wrong
    if wrong or not elements:
        return
    share, problems = divided(spec.resources, len(elements), "spec.resources")
    yield from problems
    part = "requests" if CPU in (share.requests or {}) else "limits"
    cpu = parse_quantity((getattr(share, part) or {}).get(CPU, 0)) or 0
    if cpu % NANO and (bound := next((place for place, one in enumerate(elements) if _bound(one)), None)) is not None:
        among = counted(len(elements), "processing element")
        message = f"divided among {among} it leaves a fraction of a cpu, and {_ELEMENTS}[{bound}]"
        yield Problem(f"spec.resources.{part}[{CPU}]", f"{message} is to have cores of its own ({BINDING})")


def _bound(element: ElementSpec) -> bool:
    """Whether the template asks for CPU binding."""
    return own_annotations(element).get(keys.BIND) == "true"


def _twice(names: Iterable[str], paths: Iterable[str], message: str = "{name} is also {earlier}") -> Iterator[Problem]:
    """A problem for each name that stands earlier in the list."""
    first: dict[str, str] = {}
    for name, path in zip(names, paths, strict=True):
        earlier = first.setdefault(name, path)
        if earlier != path:
            yield Problem(path, message.format(name=quote(name), earlier=earlier))
