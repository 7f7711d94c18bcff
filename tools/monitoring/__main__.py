"""``python -m tools.monitoring``: write ``docs/metrics.md`` and the dashboard of the chart."""

import logging
from pathlib import Path
from typing import Final

from tools.monitoring import dashboard, metrics_page

_ROOT: Final = Path(__file__).parents[2]


def files() -> dict[Path, str]:
    """The text of every file."""
    return {
        _ROOT / "docs" / "metrics.md": metrics_page.text(),
        _ROOT / "charts" / "streams-placement" / "monitoring" / "dashboard.json": dashboard.text(),
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # about the certificate that is not there
    for path, text in files().items():
        path.write_text(text)
