"""``python -m certs`` is ``streams-placement-certs``."""

from certs.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
