"""The CustomResourceDefinitions of our own kinds, as objects; ``python -m tools.crds`` writes them into the chart."""

from typing import Any, Final

from webhook.cluster.crds import hostpool_schema, hpaintent_schema
from webhook.cluster.crds.openapi import Schema

Document = dict[str, Any]
"""An object as JSON has it."""

GROUP: Final = "streams.ibm.com"


def hostpool_definition() -> Document:
    """HostPool: ``kubectl`` finds plurals, singulars and short names, but no kinds, hence the last two names."""
    version = _version(hostpool_schema.COLUMNS, hostpool_schema.SCHEMA, subresources={"status": {}})
    return _definition("HostPool", "streamshostpool", ["sthp", "hostpool", "hostpools"], version)


def hpaintent_definition() -> Document:
    """HPAIntent: nothing becomes of it but what its pods are given, so it has no status."""
    version = _version(hpaintent_schema.COLUMNS, hpaintent_schema.SCHEMA)
    return _definition("HPAIntent", "streamshpaintent", ["sthpa", "hpaintent", "hpaintents"], version)


def _definition(kind: str, singular: str, short: list[str], version: Document) -> Document:
    """The definition of a kind of our group that lives in namespaces, in its only version."""
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": f"{singular}s",
        "singular": singular,
        "shortNames": short,
        "categories": ["streams"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def _version(columns: list[Schema], schema: Schema, **more: object) -> Document:
    return {
        "name": "v1",
        "served": True,
        "storage": True,
        **more,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
    }


DEFINITIONS: Final = (hostpool_definition, hpaintent_definition)
"""Every definition that the chart brings."""
