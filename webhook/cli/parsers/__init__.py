"""The parsers of the commands, one file for each: its flags, and its help with examples.

A file has ``add(subparsers)``, which declares the command, and ``HELP_EXAMPLES``. It imports nothing that the command
works with: help, completions and errors about flags need no more than these files.
"""
