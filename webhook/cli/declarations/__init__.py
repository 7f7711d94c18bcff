"""What parsers of commands are made of: the ``command_help``, and flags that several commands have.

``setting_flags`` are made of the declared settings; ``manifest_flags`` and ``change_flags`` name what is judged, and
the changes that count as made. Nothing here imports what commands work with: ``arguments`` reads what was given.
"""
