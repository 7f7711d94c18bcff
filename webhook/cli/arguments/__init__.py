"""What a command is given: ``flags`` (of settings), ``manifests`` and ``inputs`` (files), and its ``command_help``."""
