"""Releases: the version in all places, and the packages with their list of parts and their checksums.

``python -m tools.release`` builds what a release consists of from the last commit. ``python -m tools.release.version``
sets the version and closes the section of the changelog. ``docs/releasing.md`` says when to do which.
"""
