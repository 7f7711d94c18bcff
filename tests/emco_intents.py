"""Hardware intents in the shapes of EMCO's own ``emcoctl`` examples: what each of them asks for, in its own spellings.

An example is a list of requests: the path below ``hpa-intents`` to which a body is posted, and the body.
"""

from typing import Any, Final, NamedTuple


class Posted(NamedTuple):
    """A request of an example: the path of the collection below that of the intents, and the body."""

    path: str
    name: str
    spec: dict[str, Any]

    @property
    def body(self) -> dict[str, Any]:
        """The body as ``emcoctl`` sends it."""
        notes = {"description": "test", "userData1": "one", "userData2": "two"}
        return {"metadata": {"name": self.name, **notes}, "spec": self.spec}


Example = list[Posted]


def intent(name: str, app: str) -> Posted:
    return Posted("", name, {"app": app})


def consumer(of: str, name: str, workload: str, container: str, **more: Any) -> Posted:
    """EMCO's examples name a release of Kubernetes for the version of the kind."""
    spec = {"apiVersion": "v19", "kind": "Deployment", "name": workload, "container": container, **more}
    return Posted(f"/{of}/hpa-resource-consumers", name, spec)


def label(of: str, key: str) -> Posted:
    resource = {"key": key, "value": "true"}
    return _requirement(of, f"label-{key.rpartition('/')[2].replace('_', '-')}", resource, allocatable=False)


def amount(of: str, name: str, number: int) -> Posted:
    resource = {"name": name, "requests": number, "limits": number}
    return _requirement(of, f"amount-{name}", resource, allocatable=True)


def _requirement(of: str, name: str, resource: dict[str, Any], *, allocatable: bool) -> Posted:
    owner, _, part = of.partition("/")
    path = f"/{owner}/hpa-resource-consumers/{part}/resource-requirements"
    return Posted(path, name, {"allocatable": allocatable, "mandatory": True, "weight": 1, "resource": resource})


QAT: Final = "feature.node.kubernetes.io/intel_qat"
HUGE: Final = "feature.node.kubernetes.io/hugepages"

_CLIENT: Final = ("r1-client", "client")
_PACKETS, _WALL = "packets", "wall"

EXAMPLES: Final[dict[str, Example]] = {
    "an amount for two replicas": [
        intent("first", "client"),
        consumer("first", "one", *_CLIENT, replicas=2),
        amount("first/one", "cpu", 1),
    ],
    "a label and an amount for two replicas": [
        intent("first", "client"),
        consumer("first", "one", *_CLIENT, replicas=2),
        label("first/one", QAT),
        amount("first/one", "cpu", 4),
    ],
    "a label and an amount": [
        intent("first", "client"),
        consumer("first", "one", *_CLIENT),
        label("first/one", QAT),
        amount("first/one", "cpu", 4),
    ],
    "two consumers of one workload, and an application beside it": [
        intent("first", "client"),
        consumer("first", "one", *_CLIENT),
        consumer("first", "two", *_CLIENT),
        label("first/one", QAT),
        amount("first/one", "cpu", 30),
        amount("first/two", "cpu", 24),
        amount("first/one", "memory", 1000),
        intent("second", "server"),
        consumer("second", "one", "r1-server", "server"),
        amount("second/one", "cpu", 28),
    ],
    "a label for each of two applications": [
        intent("first", _PACKETS),
        consumer("first", "one", "r1-packets", _PACKETS),
        label("first/one", HUGE),
        intent("second", _WALL),
        consumer("second", "one", "r1-wall", _WALL),
        label("second/one", HUGE),
    ],
}
"""What the examples of EMCO's two folders ask for: amounts, labels, replicas, several consumers and applications."""
