"""An object of another operator's kind, expanded into its components: which pods the operator makes of it, how many.

The expansion is pure and total: a part of an unexpected type counts as absent, because the API server checks an object
by the schema of its kind; only a spec of another type is a problem. See ``docs/applications.md``.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from webhook.placement.kinds.formula import Formula, number, truth
from webhook.placement.kinds.kind import Component, NotJudged, OperatorKind
from webhook.placement.kinds.placeholders import filled_in_later
from webhook.placement.kinds.pod_making import Json, added_of, template_of
from webhook.placement.kinds.references import says_something, too_many_patches, unknown_reference, with_reference
from webhook.placement.kinds.steps import called_templates
from webhook.placement.text import keys
from webhook.placement.text.decoder_words import decoder_problem
from webhook.placement.text.problem import CLAUSE_LIMIT, Problem, shorten

INSTANCES: Final = 200
"""Instances of one component that are judged: the largest clusters of Ray have a few dozen groups of workers."""

PODS: Final = 2**31 - 1
"""Pods that a component can ask for: numbers of replicas are an ``int32``."""


_TOO_LARGE: Final = "the shared part of the templates is too large, so none of them was judged"

_ANNOTATIONS: Final = ".metadata.annotations"
"""Where annotations are in a template."""


class ComponentPods(Struct, frozen=True, eq=False):
    """``count`` equal pods of an application: ``name`` is its component's, ``pod`` one of the pods.

    ``field`` is the path of the template in the object, ``annotations_field`` where annotations of the pods are
    written. ``most`` is how many pods there may be later. ``apart`` pods do not run at the time of the others.
    ``added`` are names of the containers that the operator adds with requests of its own.
    """

    name: str
    field: str
    annotations_field: str
    pod: Json
    count: int
    most: int
    apart: bool = False
    added: frozenset[str] = frozenset()

    @property
    def asks(self) -> bool:
        """Whether the pods ask for placement, by an annotation of ours, or by the label of a job or PE."""
        metadata = self.pod["metadata"]
        annotations, labels = (_object(metadata.get(field)) for field in ("annotations", "labels"))
        return keys.JOB in labels or keys.PE in labels or any(_ours(key) for key in annotations)


class OperatorApplication(Struct, frozen=True, eq=False):
    """The ``components`` of an object that have pods, or everything that is wrong with it as ``problems``.

    ``suspended`` tells that the operator creates no pods yet. ``inherited`` are annotations of ours on the object
    itself, which count for all components. Of ``unknown`` components too little is known for them to be judged;
    ``not_judged`` are the sentences about these, and about what is in other objects, and ``asks_elsewhere`` tells that
    these are asked to be placed.
    """

    components: tuple[ComponentPods, ...] = ()
    problems: tuple[Problem, ...] = ()
    suspended: bool = False
    inherited: tuple[str, ...] = ()
    unknown: tuple[ComponentPods, ...] = ()
    not_judged: tuple[str, ...] = ()
    asks_elsewhere: bool = False

    @property
    def asks(self) -> bool:
        """Whether some of the pods ask for placement."""
        return self.asks_elsewhere or any(one.asks for one in (*self.components, *self.unknown))

    def warnings(self, kind: str) -> Iterator[str]:
        """What was not judged, and a warning for each annotation of the object that does not reach its pods.

        It says where to write the annotation.
        """
        yield from self.not_judged
        fields = list(dict.fromkeys(one.annotations_field for one in (*self.components, *self.unknown)))
        for key in self.inherited:
            if not fields:
                return
            where = f"{fields[0]} and the like" if len(fields) > 1 else fields[0]
            yield (
                f"metadata.annotations[{key}]: counts for all components here, but a {kind}'s own annotations do not "
                f"reach its pods: write it in {where}"
            )


def expanded(kind: OperatorKind, document: Json, referenced: Json | None = None) -> OperatorApplication:
    """The application that the object describes; ``referenced`` is the object that it refers to, if its kind does."""
    if wrong := _wrong_spec(document):
        own = any(map(_ours, _annotations(document)))
        return OperatorApplication(problems=(wrong,), asks_elsewhere=own)
    components: list[ComponentPods] = []
    unknown: list[ComponentPods] = []
    problems: list[Problem] = []
    inherited = {key: said for key, said in _annotations(document).items() if _ours(key)}
    if elsewhere := _managed_elsewhere(kind, document):
        return OperatorApplication(not_judged=(elsewhere,), asks_elsewhere=says_something(kind, document))
    missing = unknown_reference(kind, document) if referenced is None else too_many_patches(kind, document)
    document = document if referenced is None or missing else with_reference(kind, document, referenced)
    inner = _embedded(kind, document)
    sources = [(one, inner, kind.spec_path) for one in kind.embedded] if inner else []
    said = [*kind.remarks, missing] if missing else [*kind.remarks]
    said += (*_said(kind.embedded_not_judged, inner or {}, kind.spec_path), *_said(kind.not_judged, document))
    for component, source, place in (*sources, *((one, document, None) for one in kind.components)):
        instances = _instances(component, source)
        if isinstance(instances, int):
            message = f"has {instances} entries, at most {INSTANCES} are judged"
            problems.append(Problem(_located(component.list, place), message))
            continue
        said += (f"{_located(path, place)} was not judged" for path in instances.unknown)
        said += [_TOO_LARGE] if instances.too_large else []
        for pods, why in _component(component, instances, place, (document, inherited, kind)):
            (unknown if why else components).append(pods)
            said += [why] if why else []
    return OperatorApplication(
        tuple(components),
        tuple(problems),
        _suspended(kind, document, inner),
        tuple(sorted(inherited)) if components or unknown or said else (),
        tuple(unknown),
        tuple(said),
        bool(said) and says_something(kind, document),
    )


class _Specified(Struct):
    spec: Json | None = None


def _wrong_spec(document: Json) -> Problem | None:
    """The problem of a spec that is not a mapping: without one, most kinds would have the pods of their defaults."""
    try:
        msgspec.convert({"spec": document.get("spec")}, _Specified)
    except msgspec.ValidationError as error:
        return decoder_problem(error, document)
    return None


def _said(conditions: Iterable[NotJudged], source: Json, place: Formula | None = None, at: int = 0) -> Iterator[str]:
    """A sentence for each condition that is true."""
    for one in conditions:
        if truth(one.path.of(source, at)):
            yield f"{_located(one.path.path, place, at)} {one.because}"


def _managed_elsewhere(kind: OperatorKind, document: Json) -> str:
    """The sentence about an object whose pods are another controller's; empty for one of the kind's own operator."""
    manager = kind.managed_by.path.of(document) if kind.managed_by else None
    if kind.managed_by is None or not isinstance(manager, str) or manager in {"", *kind.managed_by.controllers}:
        return ""
    stated = f"{kind.managed_by.path.path} is {shorten(manager, CLAUSE_LIMIT)}"
    return f"{stated}: another controller creates the pods, which were not judged"


def service_accounts(kind: OperatorKind, document: Json) -> frozenset[str]:
    """Names of the ServiceAccounts in the namespace of the object by which the application creates pods itself."""
    sources = [(one, document) for one in kind.components]
    if inner := _embedded(kind, document):
        sources += [(one, inner) for one in kind.embedded]
    names = [one.service_account_path.of(source) for one, source in sources if one.service_account_path]
    return frozenset(name for name in names if isinstance(name, str) and name)


def _embedded(kind: OperatorKind, document: Json) -> Json | None:
    """The object of the embedded kind, with the same name, and the outer one as ``embedding``; ``None`` if none."""
    spec = kind.spec_path.of(document) if kind.spec_path else None
    return {**document, "spec": spec, "embedding": document} if isinstance(spec, dict) else None


def _suspended(kind: OperatorKind, document: Json, inner: Json | None) -> bool:
    own = kind.suspend_path is not None and truth(kind.suspend_path.of(document))
    other = kind.embedded_suspend_path is not None and inner is not None
    return own or (other and truth(kind.embedded_suspend_path.of(inner)))  # type: ignore[union-attr]


class _Instances(Struct, frozen=True, eq=False):
    """Instances of a component: the object that describes each, its number there, and the most pods if steps say it.

    ``unknown`` are paths of instances that the object does not describe. None is known if what they have in common is
    ``too_large``.
    """

    known: Sequence[tuple[Json, int, int]]
    unknown: tuple[str, ...] = ()
    too_large: bool = False


def _instances(component: Component, document: Json) -> _Instances | int:
    """The instances of the component that the object has; how many, if these are more than are judged."""
    if component.steps_path:
        return _called(_object(component.steps_path.of(document)), document)
    if not component.list:
        return _Instances([(document, 0, 0)])
    value: object = document
    for step in component.list.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    size = len(value) if isinstance(value, list) else 0
    return size if size > INSTANCES else _Instances([(document, at, 0) for at in range(size)])


def _called(spec: Json, document: Json) -> _Instances:
    """An instance for each template that steps lead to, of the object with the defaults in its templates."""
    called = called_templates(spec, INSTANCES)
    completed = {**document, "spec": {**spec, "templates": called.listed}}
    known = [({**completed, "caller": one.caller}, one.at, one.most) for one in called.templates]
    return _Instances(known, called.unknown, called.too_large)


def _component(
    component: Component, instances: _Instances, place: Formula | None, whole: tuple[Json, Json, OperatorKind]
) -> Iterator[tuple[ComponentPods, str]]:
    """The pods of each instance of the component, and why they are not known; nothing for one without pods."""
    document, inherited, kind = whole
    definition, scale = component.spec_definition, component.scale_definition
    for source, at, called in instances.known:
        template = template_of(definition, source, at)
        first = _count(scale.replicas_path, source, at) or 0
        fewest = _count(scale.min_replicas_path, source, at)
        count = first if fewest is None else min(fewest, PODS)
        most = max(first, count, called, _count(scale.max_replicas_path, source, at) or 0)
        if template is None or most == 0:
            continue
        template["metadata"]["annotations"] = {**inherited, **_object(template["metadata"].get("annotations"))}
        path = definition.pod_template_spec_path
        field = _located(path.path if path else _described(component), place, at)
        name = _name(component, source, at)
        why = next(_said(component.not_judged, source, place, at), "")
        if component.placeholder and not why and (text := filled_in_later(template, component.placeholder)):
            why = f"{name}: {shorten(text, CLAUSE_LIMIT)} is filled in later, so its pods were not judged"
        pods = ComponentPods(
            name,
            field,
            _located(definition.annotations_field, place, at) or f"{field}{_ANNOTATIONS}",
            _pod(template, document, kind),
            count,
            most,
            component.separate_path is not None and truth(component.separate_path.of(source, at)),
            added_of(definition, source, at),
        )
        yield pods, why


def _pod(template: Json, document: Json, kind: OperatorKind) -> Json:
    """The pod of the template: without a name, in the namespace of the object, and owned by it."""
    own = _object(document.get("metadata"))
    name, namespace = own.get("name"), own.get("namespace")
    text = name if isinstance(name, str) else ""
    owner = {
        "apiVersion": document.get("apiVersion"),
        "kind": kind.kind.kind,
        "name": text,
        "uid": "",
        "controller": True,
    }
    metadata = {**template["metadata"], "generateName": f"{text}-", "ownerReferences": [owner]}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _described(component: Component) -> str:
    """Where the object describes the pods of a component that it has no whole template of."""
    stated = component.spec_definition.annotations_field.removesuffix(_ANNOTATIONS)
    return f"{component.list}[]" if component.list and "[]" not in stated else stated


def _name(component: Component, document: Json, at: int) -> str:
    """The name of an instance in messages: ``worker small``."""
    instance_id = component.instance_id_path.of(document, at) if component.instance_id_path else None
    return (
        f"{component.name} {shorten(instance_id, CLAUSE_LIMIT)}"
        if isinstance(instance_id, str) and instance_id
        else component.name
    )


def _count(path: Formula | None, document: Json, at: int) -> int | None:
    """The whole number that the formula has, from 0 to ``PODS``; ``None`` if it has none."""
    count = number(path.of(document, at)) if path else None
    return None if count is None else min(max(int(count), 0), PODS)


def _located(path: str, place: Formula | None, at: int = 0) -> str:
    """The path in the whole object, with the number of the instance."""
    inner = f"{place.path}.{path.removeprefix('spec.')}" if place and path else path
    return inner.replace("[]", f"[{at}]")


def _annotations(document: Json) -> Json:
    return _object(_object(document.get("metadata")).get("annotations"))


def _ours(key: object) -> bool:
    return isinstance(key, str) and key.startswith(keys.PREFIX) and key not in keys.FOREIGN


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
