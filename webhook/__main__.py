"""``python -m webhook`` is ``streams-placement``."""

from webhook.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
