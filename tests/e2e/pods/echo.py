"""A program for pods in the control plane's own tests: serves its arguments, environment and files over HTTP.

``python echo.py serve --listen ADDRESS --port PORT --file FILE``; unready while the file says ``unready``.
"""

import argparse
import http.server
import json
import os
from pathlib import Path

PARSER = argparse.ArgumentParser()
PARSER.add_argument("serve")
PARSER.add_argument("--listen", required=True)
PARSER.add_argument("--port", type=int, required=True)
PARSER.add_argument("--file", type=Path, required=True)
CHOICES = PARSER.parse_args()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every path with the same JSON; ``/ready`` with 503 if so told."""

    def do_GET(self) -> None:
        """Answer."""
        text = CHOICES.file.read_text()
        body = json.dumps({"file": text, "environment": dict(os.environ)}).encode()
        self.send_response(503 if self.path == "/ready" and text == "unready" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer((CHOICES.listen, CHOICES.port), Handler).serve_forever()
