"""Large libraries that are imported when they are needed first: most processes never need them."""

import threading
from typing import Final

IMPORTING: Final = threading.Lock()
"""Held while a thread imports one, and by those who fork this process.

A child that is forked during an import would wait forever for the importing thread, which does not exist in the child.
"""
