"""The CustomResourceDefinitions of our own kinds, as objects; ``python -m tools.crds`` writes them into the chart."""

from typing import Any, Final

from webhook.cluster.crds import hostpool_schema, hpaintent_schema
from webhook.cluster.crds.openapi import Schema
from webhook.placement.text.api_kinds import HOST_POOL, HPA_INTENT, VERSION, ApiKind

Document = dict[str, Any]
"""An object as JSON has it."""


def hostpool_definition() -> Document:
    """HostPool: ``kubectl`` finds plurals, singulars and short names, but no kinds, hence the last two names."""
    version = _version(hostpool_schema.COLUMNS, hostpool_schema.SCHEMA, subresources={"status": {}})
    return _definition(HOST_POOL, ["sthp", "hostpool", "hostpools"], version)


def hpaintent_definition() -> Document:
    """HPAIntent: nothing becomes of it but what its pods are given, so it has no status."""
    version = _version(hpaintent_schema.COLUMNS, hpaintent_schema.SCHEMA)
    return _definition(HPA_INTENT, ["sthpa", "hpaintent", "hpaintents"], version)


def _definition(kind: ApiKind, short: list[str], version: Document) -> Document:
    """The definition of a kind of our group that lives in namespaces, in its only version."""
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


DEFINITIONS: Final = (hostpool_definition, hpaintent_definition)
"""Every definition that the chart brings."""
