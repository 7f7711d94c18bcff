"""The exit codes of ``streams-placement-certs``."""

from typing import Final

OK: Final = 0
REFUSED: Final = 1
"""The folder is not usable, or another program's authority or Secret stands in the way."""
WRONG_USE: Final = 2
TROUBLE: Final = 3
"""The machine or the cluster is in the way: a folder that cannot be used, no API server, a lost Lease."""
