"""HPAIntent objects under review: all that can be wrong with them before any pod is there (``docs/hpaintent.md``)."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from webhook.admission.review import Review
from webhook.placement.inventory.intent import read_intent
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata
from webhook.placement.text.problem import Problem


class HPAIntent(Struct, frozen=True, gc=False):
    """An HPAIntent object as it is submitted; its spec is read as it stands."""

    metadata: Metadata = Metadata()
    spec: Any = None


_INTENT = msgspec.json.Decoder(HPAIntent)


def submitted_intent(review: Review, _cluster: Inventory, _policy: Policy) -> Iterator[Problem]:
    """An intent that is created or changed: pods that are there already keep what they were given."""
    new = _INTENT.decode(review.object)
    if not new.metadata.deletion_timestamp:
        yield from read_intent(review.namespace, "", {} if new.spec is None else new.spec).problems
