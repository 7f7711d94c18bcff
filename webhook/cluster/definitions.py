"""The CustomResourceDefinitions of our own kinds, as objects; ``python -m tools.crds`` writes them into the chart."""

from typing import Any, Final

from webhook.cluster.hostpool_schema import COLUMNS, SCHEMA

Document = dict[str, Any]
"""An object as JSON has it."""

GROUP: Final = "streams.ibm.com"


def hostpool_definition() -> Document:
    """HostPool: ``kubectl`` finds plurals, singulars and short names, but no kinds, hence the last two names."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"streamshostpools.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": "HostPool",
                "listKind": "HostPoolList",
                "plural": "streamshostpools",
                "singular": "streamshostpool",
                "shortNames": ["sthp", "hostpool", "hostpools"],
                "categories": ["streams"],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": COLUMNS,
                    "schema": {"openAPIV3Schema": SCHEMA},
                }
            ],
        },
    }


DEFINITIONS: Final = (hostpool_definition,)
"""Every definition that the chart brings."""
