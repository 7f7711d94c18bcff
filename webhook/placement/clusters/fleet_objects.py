"""The lists of apps as objects of fleet managers: ``PropagationPolicy`` of Karmada, ``Placement`` of OCM.

Clusters are always named, never excluded: a fleet manager would count a cluster that was not asked about as allowed.
Weights are honoured by order: the best clusters first. The forms are those of the APIs ``policy.karmada.io/v1alpha1``
and ``cluster.open-cluster-management.io/v1beta1`` (``docs/clusters.md``).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.placement.clusters.answer import AppList, ClustersAnswer
from webhook.placement.clusters.application import ClusterApp
from webhook.placement.kube.names import is_namespace
from webhook.placement.text.api_kinds import HPA_INTENT

Json = dict[str, Any]

NAME_LIMIT: Final = 63
"""Characters of the name of an object: some managers put the name into a label, which has no more."""

_DIGITS: Final = 8
"""Hexadecimal digits that tell names apart of which not all characters can stand in the name of an object."""


def propagation_policies(apps: Sequence[ClusterApp], answer: ClustersAnswer, *, divide: bool = False) -> Iterator[Json]:
    """A PropagationPolicy for each app with a list: its workloads and HPAIntents go to the best clusters of the list.

    Karmada schedules every object by itself, so a choice of clusters could tear the app apart. Every cluster gets all
    replicas of the workloads, or with ``divide`` a share of them: by its weight, and one more, so that clusters without
    any get a share, too.
    """
    for app in apps:
        if (one := answer.apps.get(app.name)) is not None:
            placement: Json = {
                "clusterAffinity": {"clusterNames": sorted(one.best)},
                "spreadConstraints": [
                    {"spreadByField": "cluster", "minGroups": one.replication_count, "maxGroups": one.replication_count}
                ],
                "replicaScheduling": _divided(one) if divide else {"replicaSchedulingType": "Duplicated"},
            }
            spec = {"resourceSelectors": _selectors(app), "placement": placement}
            yield _object("policy.karmada.io/v1alpha1", "PropagationPolicy", app, spec)


def ocm_placements(apps: Sequence[ClusterApp], answer: ClustersAnswer) -> Iterator[Json]:
    """A Placement for each app with a list: as many of the clusters with the largest weights as the app asks for."""
    for app in apps:
        if (one := answer.apps.get(app.name)) is not None:
            names = json.dumps(_best(one, answer.clusters))
            selector = {"celSelector": {"celExpressions": [f"managedCluster.metadata.name in {names}"]}}
            spec = {
                "numberOfClusters": one.replication_count,
                "predicates": [{"requiredClusterSelector": selector}],
            }
            yield _object("cluster.open-cluster-management.io/v1beta1", "Placement", app, spec)


def _best(one: AppList, clusters: Sequence[str]) -> list[str]:
    """The clusters whose weights are not below the least one of the best, so that there are enough; sorted."""
    least = min(one.weights.get(name, 0) for name in one.best)
    return [name for name in one.allowed(clusters) if one.weights.get(name, 0) >= least]


def _divided(one: AppList) -> Json:
    shares = [
        {"targetCluster": {"clusterNames": [name]}, "weight": one.weights.get(name, 0) + 1} for name in sorted(one.best)
    ]
    return {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": shares},
    }


def _selectors(app: ClusterApp) -> list[Json]:
    """The objects of the app: its workloads, and the HPAIntents by which their pods get the hardware."""
    kinds = [(one.api_version, one.kind, one.name) for one in app.workloads]
    kinds += [(HPA_INTENT.api_version, HPA_INTENT.name, name) for name in app.intents]
    return [{"apiVersion": version, "kind": kind, "name": name} for version, kind, name in kinds]


def _object(version: str, kind: str, app: ClusterApp, spec: Json) -> Json:
    metadata = {"name": object_name(app.name), "namespace": app.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def object_name(app: str) -> str:
    """The name of an object for the app: the app's own, if an object can have it; different for different apps."""
    if is_namespace(app):
        return app
    digest = hashlib.sha256(app.encode()).hexdigest()[:_DIGITS]
    plain = re.sub("[^a-z0-9]+", "-", app.lower())[: NAME_LIMIT - _DIGITS - 1].strip("-") or "app"
    return f"{plain}-{digest}"
