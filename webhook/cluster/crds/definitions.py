"""The CustomResourceDefinitions of our kinds as objects; ``python -m tools.crds`` writes the chart's."""

from typing import Any, Final

from webhook.cluster.crds import (
    hostpool_schema,
    hpaintent_schema,
    job_schema,
    parallelregion_schema,
    processingelement_schema,
)
from webhook.cluster.crds.openapi import Schema
from webhook.placement.text.api_kinds import (
    HOST_POOL,
    HPA_INTENT,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
    STREAMS_JOB,
    VERSION,
    ApiKind,
)

Document = dict[str, Any]
"""A JSON object."""


def hostpool_definition() -> Document:
    """The definition of HostPool.

    ``hostpool`` and ``hostpools`` are short names, because ``kubectl`` finds a kind by its plural, singular and short
    names, but not by its kind in lower case.
    """
    version = _version(hostpool_schema.COLUMNS, hostpool_schema.SCHEMA, subresources={"status": {}})
    return _definition(HOST_POOL, ["sthp", "hostpool", "hostpools"], version)


def hpaintent_definition() -> Document:
    """The definition of HPAIntent, which has no status: an intent has an effect on pods only."""
    version = _version(hpaintent_schema.COLUMNS, hpaintent_schema.SCHEMA)
    return _definition(HPA_INTENT, ["sthpa", "hpaintent", "hpaintents"], version)


def job_definition() -> Document:
    """The definition of Job, which has no short name ``job``: that is the Job of ``batch``."""
    version = _version(job_schema.COLUMNS, job_schema.SCHEMA, subresources={"status": {}})
    return _definition(STREAMS_JOB, ["stj"], version)


def processingelement_definition() -> Document:
    """The definition of ProcessingElement."""
    version = _version(processingelement_schema.COLUMNS, processingelement_schema.SCHEMA, subresources={"status": {}})
    return _definition(PROCESSING_ELEMENT, ["stp", "processingelement", "processingelements"], version)


def parallelregion_definition() -> Document:
    """The definition of ParallelRegion, which has the subresource ``scale``."""
    schema = parallelregion_schema
    version = _version(schema.COLUMNS, schema.SCHEMA, subresources=schema.SUBRESOURCES)
    return _definition(PARALLEL_REGION, ["stpr", "parallelregion", "parallelregions"], version)


def _definition(kind: ApiKind, short: list[str], version: Document) -> Document:
    """The definition of a namespaced kind of the group ``streams.ibm.com`` with its only version."""
    names = {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.resource,
        "singular": kind.resource.removesuffix("s"),
        "shortNames": short,
        "categories": ["streams"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.full_resource},
        "spec": {"group": kind.group, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def _version(columns: list[Schema], schema: Schema, **more: object) -> Document:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        **more,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
    }


DEFINITIONS: Final = (
    hostpool_definition,
    hpaintent_definition,
    job_definition,
    processingelement_definition,
    parallelregion_definition,
)
"""Functions that return the definitions of the chart."""
