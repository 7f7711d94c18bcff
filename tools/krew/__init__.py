"""The plugin for Krew, the plugin manager of kubectl: an archive for each platform, and the manifest that names them.

``python -m tools.krew --wheel WHEEL --url URL --out FOLDER`` makes both. An archive holds the program with all
libraries of ``requirements.lock``, those with compiled parts once for each version of Python, and a launcher
(``launcher.py``) that runs it with a Python of the user's machine.
"""
