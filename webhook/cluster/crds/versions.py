"""The versions of our kinds besides ``v1``, and the ways between them.

The chart serves ``v1`` alone. ``v2`` of HostPool is a trial, with ``spec.exclusive`` in place of ``spec.mode``: it
shows that a field can change while both versions are served, and is served in tests only (``docs/upgrading.md``).
"""

from typing import Final

import msgspec
from msgspec import Raw

from webhook.admission.conversion import Fields, OtherVersion, Versions
from webhook.admission.review import MALFORMED
from webhook.placement.objects.pool_spec import MODES
from webhook.placement.text.api_kinds import HOST_POOL

TRIAL: Final = "v2"
"""The version of HostPool that is tried."""

_SHARED, _EXCLUSIVE = MODES
_SWITCHES: Final = {_SHARED: Raw(b"false"), _EXCLUSIVE: Raw(b"true")}
_SPEC: Final = msgspec.json.Decoder(Fields)
_TEXT: Final = msgspec.json.Decoder(str)
_SWITCH: Final = msgspec.json.Decoder(bool)


def _to_trial(fields: Fields) -> None:
    """``mode`` as ``exclusive``; any other value than those of the schema stays, and so does a spec with both."""
    try:
        spec = _SPEC.decode(fields["spec"])
        switch = _SWITCHES[_TEXT.decode(spec["mode"])]
    except (KeyError, *MALFORMED):
        return
    if "exclusive" in spec:
        return
    del spec["mode"]
    fields["spec"] = Raw(msgspec.json.encode({**spec, "exclusive": switch}))


def _from_trial(fields: Fields) -> None:
    """``exclusive`` as ``mode``; anything but true and false stays, and so does a spec with both."""
    try:
        spec = _SPEC.decode(fields["spec"])
        exclusive = _SWITCH.decode(spec["exclusive"])
    except (KeyError, *MALFORMED):
        return
    if "mode" in spec:
        return
    del spec["exclusive"]
    mode = _EXCLUSIVE if exclusive else _SHARED
    fields["spec"] = Raw(msgspec.json.encode({**spec, "mode": mode}))


VERSIONS: Final[Versions] = {HOST_POOL: {TRIAL: OtherVersion(to_stored=_from_trial, from_stored=_to_trial)}}
"""What ``/convert`` knows."""
