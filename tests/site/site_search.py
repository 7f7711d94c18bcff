"""The search of the built site, run without a browser: its own scripts and its own index, in QuickJS."""

import json
from pathlib import Path
from typing import Any, Final

import quickjs

_BROWSER: Final = """
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.found = null;
globalThis.postMessage = (message) => { found = message; };
globalThis.Worker = class { postMessage(message) { onmessage({ data: message }); } };
"""
"""What the scripts take from a browser: a worker that is told things, and tells what it found."""

_EVERYTHING: Final = {
    "input": {"type": "operator", "data": {"operator": "and", "operands": []}},
    "aggregation": {"input": [{"type": "term", "data": {"field": "tags"}}]},
}
"""The filter that the page sends while no tag is chosen."""


class SiteSearch:
    """Asks the search of a site what the field for searches asks it."""

    def __init__(self, site: Path) -> None:
        """Read the index and the scripts, as a page does."""
        self._script = quickjs.Context()
        self._script.set_max_stack_size(8 << 20)
        (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
        index = (site / "search.json").read_text()
        self.sections: list[dict[str, Any]] = json.loads(index)["items"]
        for source in (_BROWSER, worker.read_text(), (site / "assets" / "pasted-search.js").read_text()):
            self._script.eval(source)
        self._script.eval("globalThis.search = new Worker()")
        self._tell(f'{{"type": 0, "data": {index}}}')

    def find(self, text: str) -> list[str]:
        """The addresses of the sections that are found, best first, as far as the first page of results shows them."""
        answer = self._tell(json.dumps({"type": 2, "data": {"input": text, "filter": _EVERYTHING}}))
        return [self.sections[item["id"]]["location"] for item in answer["data"]["items"]]

    def _tell(self, message: str) -> Any:
        self._script.eval(f"found = null; search.postMessage({message})")
        while self._script.execute_pending_job():
            pass
        answer = json.loads(self._script.eval("JSON.stringify(found).slice(0)"))
        assert answer["type"] != 4, "the search failed"
        return answer
