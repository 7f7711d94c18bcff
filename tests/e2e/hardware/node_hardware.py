"""Five nodes with different devices, as device plugins report them, and different labels."""

from typing import Final

from tests.e2e.client.api import Object
from tests.e2e.nodes import node

GPU: Final = "example.com/gpu"
OTHER_GPU: Final = "nvidia.com/gpu"
QAT: Final = "intel.com/qat"
PAGES: Final = "hugepages-2Mi"

TURBO: Final = "feature.node.kubernetes.io/cpu-pstate.turbo"
"""A label of Node Feature Discovery."""

MACHINES: Final[list[Object]] = [
    node("gpu-1", {"disktype": "ssd", "cores": "16"}, capacity={GPU: "2", OTHER_GPU: "1", PAGES: "64Mi"}),
    node("gpu-2", {"disktype": "ssd", "cores": "8"}, capacity={GPU: "1"}),
    node("qat-1", {"disktype": "hdd", "cores": "8"}, capacity={QAT: "2"}),
    node("plain-1", {"disktype": "hdd", "cores": "4", TURBO: "true"}),
    node("plain-2", {TURBO: "false"}),
]
