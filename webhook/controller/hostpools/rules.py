"""What the controller is to decide by: the installation's choices."""

from msgspec import Struct

from webhook.controller.hostpools.dismissals import Replacement
from webhook.placement.inventory.policy import Policy


class Rules(Struct, frozen=True):
    """``policy`` is what admission decides by as well; ``replacement`` says when hosts are replaced that exist."""

    policy: Policy
    replacement: Replacement = Replacement()
