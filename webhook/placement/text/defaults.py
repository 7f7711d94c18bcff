"""Defaults of flags and settings that deeper layers have as well."""

from typing import Final

POOLS: Final = 100
"""HostPools that a namespace may have by default: an application of SPL has a handful."""

BUILD_TYPE: Final = "{buildType}"
"""Placeholder in the name of the runtime's image."""

RUNTIME_IMAGE: Final = f"streams-runtime:{BUILD_TYPE}"
"""The runtime's image unless a setting names another one."""

CLUSTER_TIMEOUT: Final = 30.0
"""Default time limit for the answer of a cluster, in seconds."""

CLUSTERS_AT_ONCE: Final = 8
"""Default number of clusters that are read at the same time."""

PLAN_SECONDS: Final = 10.0
"""Seconds to look for the cheapest plan."""
