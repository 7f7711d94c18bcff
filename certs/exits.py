"""The exit codes of ``streams-placement-certs``."""

from typing import Final

OK: Final = 0
REFUSED: Final = 1
"""The folder is not usable, or holds another program's authority; or the Secret holds another program's
certificates."""
WRONG_USE: Final = 2
TROUBLE: Final = 3
"""The machine or the cluster failed: a folder that cannot be read or written, no API server, a lost Lease."""
