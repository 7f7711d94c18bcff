"""DeviceTaintRules: taints that a person or a controller puts on devices."""

from msgspec import Struct

from webhook.placement.devices.published.claims import DeviceName
from webhook.placement.kube.selection.tolerations import Taint


class TaintRule(Struct, frozen=True, gc=False):
    """A DeviceTaintRule: the taint of all devices of this driver, pool and name; an empty text stands for any.

    ``selects`` is false for a rule without ``deviceSelector``, which taints no device.
    """

    name: str
    taint: Taint
    driver: str = ""
    pool: str = ""
    device: str = ""
    selects: bool = True

    def taints(self, device: DeviceName) -> bool:
        """Whether the rule is about the device."""
        return (
            self.selects
            and self.driver in ("", device.driver)
            and self.pool in ("", device.pool)
            and self.device in ("", device.device)
        )
