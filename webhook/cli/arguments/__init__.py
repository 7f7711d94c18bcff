"""What a command was given: ``given_settings``, ``manifests`` and ``inputs`` (files)."""
