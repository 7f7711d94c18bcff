"""``accepted``: as many items of a list as fit together, where earlier items come before later ones."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")


async def accepted(
    items: Sequence[T], fits: Callable[[Sequence[T]], Awaitable[bool]], alike: Callable[[T], Hashable]
) -> list[T]:
    """The items that fit, each judged in its turn beside all that were accepted before it.

    ``fits`` answers for a list of items; the last list that it finds to fit is the result, and nothing is asked about
    an empty one. After an item that does not fit, no item that is ``alike`` is tried any more. All items that are left
    are tried at once, then halves of them, so that few questions are asked where there are few kinds of items.
    """
    fitting: list[T] = []
    pending = list(items)
    while pending:
        if await fits([*fitting, *pending]):
            return [*fitting, *pending]
        low, high = 0, len(pending) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if await fits([*fitting, *pending[:middle]]) else (low, middle - 1)
        fitting += pending[:low]
        short = alike(pending[low])
        pending = [item for item in pending[low + 1 :] if alike(item) != short]
    return fitting
