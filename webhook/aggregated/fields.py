"""What each field of a PlacementReview means, for ``kubectl explain``: by type and by field, as JSON has it."""

from typing import Final

FIELDS: Final[dict[str, dict[str, str]]] = {
    "PlacementReview": {
        "apiVersion": "The group and version of the kind.",
        "kind": "The name of the kind.",
        "metadata": "A name is not needed, as nothing is stored.",
        "spec": "What is asked.",
        "status": "The answer.",
    },
    "ReviewMetadata": {
        "name": "A name of your own, which the answer has as well.",
        "generateName": "Ignored, as nothing is stored.",
        "namespace": "The namespace in which the review is created, and to which manifests without one belong.",
        "labels": "Labels of your own, which the answer has as well.",
        "annotations": "Annotations of your own, which the answer has as well.",
    },
    "ReviewSpec": {
        "manifests": "The objects that are asked about, in the order in which they would be submitted: at most 100.",
        "plan": "Whether all of them are also planned together.",
        "whatIf": "Changes that the answer assumes; the cluster itself stays as it is.",
    },
    "WhatIf": {
        "drain": "Nodes that take no new pods, and whose pods are evicted as by kubectl drain.",
        "cordon": "Nodes that take no new pods.",
        "addNodes": "Nodes that are added.",
        "removePods": "Pods that are gone.",
    },
    "AddedNodes": {
        "count": "How many nodes are added.",
        "like": "The node that they are like; either this or shape is given.",
        "shape": "What they are like.",
    },
    "AddedShape": {
        "allocatable": "Amounts that pods may use, such as cpu, memory and extended resources; 110 pods if not stated.",
        "labels": "Labels of the nodes.",
        "taints": "Taints of the nodes.",
    },
    "AddedTaint": {
        "key": "The key of the taint.",
        "effect": "NoSchedule, PreferNoSchedule or NoExecute.",
        "value": "The value of the taint.",
    },
    "PodName": {
        "name": "The name of the pod.",
        "namespace": "The namespace of the pod; that of the review if it is not given.",
    },
    "ReviewStatus": {
        "results": "The answers, in the order of the manifests; a manifest with several components has several.",
        "plan": "The plan of all manifests together, as streams-placement plan -o json writes it.",
        "evicted": "Pods that leave the drained nodes, of namespaces whose pods you may list.",
        "evictedElsewhere": "How many pods of other namespaces leave the drained nodes.",
    },
    "ReviewResult": {
        "manifest": "The place of the manifest in the spec, from 0.",
        "kind": "The kind of the object.",
        "namespace": "The namespace of the object.",
        "name": "The name of the object.",
        "component": "The component of the object whose pods the answer is about; absent if it has only one.",
        "verdict": "Waiting is admitted, to wait for a node that there is not yet; NotJudged asks for no placement.",
        "message": "What admission would say, word for word.",
        "warnings": "Warnings of admission.",
        "replicas": "How many pods the object asks for.",
        "fit": "How many of these can run at the same time.",
        "candidates": "The nodes that can run the pod.",
        "closed": "The rules that close nodes; each node is counted under the first of them.",
        "smallestSet": "The smallest set of constraints that no node fulfils.",
        "nearestFix": "The change that helps with least effort.",
        "patch": "The JSON Patch that admission would make.",
    },
    "CandidateNodes": {
        "count": "How many nodes can run the pod.",
        "nodes": "Their names, if you may list nodes.",
    },
    "ClosedByRule": {
        "rule": "The constraint as you wrote it, or the reason if no constraint of yours closes the nodes.",
        "reason": "What is wrong with the nodes.",
        "count": "How many nodes it closes.",
        "nodes": "Their names, if you may list nodes.",
    },
    "EvictedPod": {
        "namespace": "The namespace of the pod.",
        "name": "The name of the pod.",
        "verdict": "Whether the pod that replaces it has a node, is refused, waits, or is made by no controller.",
        "message": "Why it has no node.",
        "node": "The node that it would run on, if you may list nodes.",
    },
    "EvictedElsewhere": {
        "count": "How many pods leave.",
        "placed": "How many of these are replaced by a pod that has a node.",
        "refused": "How many of these are replaced by a pod that is refused.",
        "unplaced": "How many of these are replaced by a pod that waits.",
        "deleted": "How many of these no controller replaces.",
    },
}
