"""Runs the program ``streams-placement-certs`` for ``python -m certs``."""

from certs.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
