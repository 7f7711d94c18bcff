"""The Go modules that the control plane is built from, one in each folder of ``go/``, as their dependencies conflict.

A version is written once, in ``go.mod``; ``go get -tool PACKAGE@VERSION`` in the folder changes it.
"""

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Final

HOME: Final = Path(__file__).parents[1] / "go"


@dataclasses.dataclass(frozen=True, slots=True)
class Module:
    """What one folder builds: programs by name, each with its package, from one version of ``module``."""

    name: str
    module: str
    programs: dict[str, str]
    tags: tuple[str, ...] = ()
    """Build tags, which leave out what is not used."""
    sources: tuple[str, ...] = ()
    """Files of the folder that are compiled: of a program that is written here."""
    definitions: tuple[str, ...] = ()
    """Files of ``module`` that tests need beside its programs, such as its CustomResourceDefinitions."""
    home: str = ""
    """The folder whose ``go.mod`` says the versions, unless it has the module's name."""

    @property
    def folder(self) -> Path:
        """Where its go.mod is."""
        return HOME / (self.home or self.name)

    @property
    def version(self) -> str:
        """The version that go.mod asks for, such as ``v1.36.3``."""
        found = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._text("go.mod"), re.MULTILINE)
        assert found, f"{self.folder / 'go.mod'} does not require {self.module}"
        return found[1]

    def key(self, go: str) -> str:
        """A name for what this version of Go makes of it: equal keys, equal programs."""
        texts = map(self._text, ("go.mod", "go.sum", *self.sources))
        told = "\n".join((*texts, go, *self.flags, *self.definitions))
        return f"{self.name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    @property
    def files(self) -> frozenset[str]:
        """Names of everything that its folder in the cache has."""
        return frozenset((*self.programs, *(Path(path).name for path in self.definitions)))

    @property
    def flags(self) -> tuple[str, ...]:
        """Of ``go build``: no paths and no debugging tables, and for Kubernetes the version that it reports.

        Without it the API server says v0.0.0, and charts that state a ``kubeVersion`` refuse it.
        """
        link = ["-s", "-w"]
        if self.module == "k8s.io/kubernetes":
            major, minor, _ = self.version.removeprefix("v").split(".", 2)
            versions = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor}
            link += [f"-X k8s.io/component-base/version.{name}={value}" for name, value in versions.items()]
            link.append(f"-X k8s.io/client-go/pkg/version.gitVersion={self.version}")
        tags = ("-tags", ",".join(self.tags)) if self.tags else ()
        return ("-mod=readonly", "-buildvcs=false", "-trimpath", *tags, "-ldflags", " ".join(link))

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text()


_KUBERNETES: Final = {
    name: f"k8s.io/kubernetes/cmd/{name}" for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
}

VERSIONS: Final = {
    name: Module(f"kubernetes-{name}", "k8s.io/kubernetes", _KUBERNETES) for name in ("oldest", "newest")
}
"""The oldest minor version of Kubernetes that the chart supports, and the newest one that there is."""

MODULES: Final = (
    Module("kubernetes", "k8s.io/kubernetes", _KUBERNETES),
    Module("etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Module("kwok", "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
    Module("helm", "helm.sh/helm/v4", {"helm": "helm.sh/helm/v4/cmd/helm"}),
)
"""What every control plane needs."""

KREW: Final = Module(
    "krew",
    "sigs.k8s.io/krew",
    {name: f"sigs.k8s.io/krew/cmd/{name}" for name in ("krew", "validate-krew-manifest")},
)
HELM_DOCS: Final = Module(
    "helm-docs", "github.com/norwoodj/helm-docs", {"helm-docs": "github.com/norwoodj/helm-docs/cmd/helm-docs"}
)

PROMETHEUS: Final = Module(
    "prometheus",
    "github.com/prometheus/prometheus",
    {name: f"github.com/prometheus/prometheus/cmd/{name}" for name in ("prometheus", "promtool")},
    tags=("remove_all_sd", "enable_kubernetes_sd"),
)
"""For tests of metrics, alerts and the dashboard."""

SECOND_OPINION: Final = Module(
    "second-opinion",
    "k8s.io/kubernetes",
    {"second-opinion": "./secondopinion"},
    sources=("secondopinion/main.go",),
    home="kubernetes",
)
"""Answers questions about texts by the packages of the API server, for the fuzzing of parsers."""

TOPOLOGY_OPINION: Final = Module(
    "topology-opinion",
    "k8s.io/kubernetes",
    {"topology-opinion": "./topologyopinion"},
    sources=("topologyopinion/main.go", "topologyopinion/linkname.s"),
    home="kubernetes",
)
"""Answers whether a kubelet admits a pod, by its topology manager and what gives that hints."""

COLLECTOR: Final = Module(
    "collector", "go.opentelemetry.io/collector/otelcol", {"collector": "."}, sources=("main.go",)
)
"""The OpenTelemetry collector, with the parts that the test of traces uses."""

JOBSET: Final = Module(
    "jobset",
    "sigs.k8s.io/jobset",
    {"jobset": "sigs.k8s.io/jobset"},
    definitions=tuple(
        f"config/components/{path}"
        for path in ("crd/bases/jobset.x-k8s.io_jobsets.yaml", "webhook/manifests.yaml", "rbac/role.yaml")
    ),
)
"""The controller of JobSets, for the tests of applications."""

_RAY: Final = "github.com/ray-project/kuberay/ray-operator"
KUBERAY: Final = Module(
    "kuberay",
    _RAY,
    {"ray-operator": _RAY},
    definitions=(
        *(f"config/crd/bases/ray.io_{name}.yaml" for name in ("rayclusters", "raycronjobs", "rayjobs", "rayservices")),
        "config/rbac/role.yaml",
    ),
)
"""The operator of RayClusters, for the tests of applications."""

LWS: Final = Module(
    "lws",
    "sigs.k8s.io/lws",
    {"lws": "sigs.k8s.io/lws/cmd"},
    definitions=(
        "config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml",
        "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
        "config/webhook/manifests.yaml",
        "config/rbac/role.yaml",
    ),
)
"""The controllers of LeaderWorkerSets and of DisaggregatedSets, for the tests of applications."""

KUEUE: Final = Module(
    "kueue",
    "sigs.k8s.io/kueue",
    {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
    definitions=(
        *(
            f"config/components/crd/bases/kueue.x-k8s.io_{resource}.yaml"
            for resource in (
                "admissionchecks",
                "clusterqueues",
                "cohorts",
                "localqueues",
                "multikueueclusters",
                "multikueueconfigs",
                "provisioningrequestconfigs",
                "resourceflavors",
                "topologies",
                "workloadpriorityclasses",
                "workloads",
            )
        ),
        "config/components/webhook/manifests.yaml",
        "config/components/rbac/role.yaml",
    ),
)
"""Kueue, for the tests of its admission checks."""

_KARPENTER: Final = "sigs.k8s.io/karpenter"
KARPENTER: Final = Module(
    "karpenter",
    _KARPENTER,
    {"karpenter-kwok": f"{_KARPENTER}/kwok"},
    definitions=(
        *(f"pkg/apis/crds/karpenter.sh_{resource}.yaml" for resource in ("nodepools", "nodeclaims", "nodeoverlays")),
        "kwok/apis/crds/karpenter.kwok.sh_kwoknodeclasses.yaml",
        "kwok/cloudprovider/instance_types.json",
    ),
)
"""Karpenter with its own provider of kwok nodes, for the long test of node groups alone."""

OTHERS: Final = (KREW, HELM_DOCS, PROMETHEUS, SECOND_OPINION, TOPOLOGY_OPINION, COLLECTOR, JOBSET)
"""No parts of a control plane: the tests that need one of them build it for themselves."""

LONG: Final = (KARPENTER, KUBERAY, KUEUE, LWS)
"""The same, for tests with the marker ``long``."""
