"""The file system of the container image: what the programs need, out of the stage that installed them, and no more.

``python -m tools.image ROOT`` makes it, by the Python whose libraries the programs use; the Dockerfile runs that.
``tools.image.self_check`` then runs in the image itself. All modules here need the standard library alone, since no
other is installed where the image is built.
"""
