"""The built site has every page, and loads nothing from elsewhere."""

import re
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT
from tools.site import __main__ as program
from tools.site.built import problems
from tools.site.staging import StagingError

NAMED: Final = re.compile(
    r"""\b(?:src|srcset|poster|data)\s*=\s*["']?(?:https?:)?//|@import|url\(\s*["']?(?:https?:)?//"""
)


def test_every_page_of_the_documentation_is_there(site: Path) -> None:
    pages = {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")} - {"README.html"}
    assert pages <= {path.name for path in (site / "docs").glob("*.html")}
    assert {"index.html", "CHANGELOG.html", "docs/index.html", "charts/streams-placement/index.html"} <= {
        path.relative_to(site).as_posix() for path in site.rglob("*.html")
    }


def test_every_page_of_the_documentation_is_in_the_navigation(site: Path) -> None:
    start = (site / "index.html").read_text()
    linked = set(re.findall(r'href="(?:\./)?(docs/[\w-]+\.html)"', start))
    pages = {f"docs/{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} - {"docs/README.html"}
    assert sorted(pages - linked) == []


def test_nothing_is_wrong_with_it(site: Path) -> None:
    assert problems(site) == []


def test_no_page_and_no_style_sheet_names_anything_to_load_from_elsewhere(site: Path) -> None:
    files = [*site.rglob("*.html"), *(path for path in site.rglob("*.css"))]
    assert len(files) > 200
    assert [
        str(path) for path in files if NAMED.search(re.sub(r"<pre.*?</pre>", "", path.read_text(), flags=re.DOTALL))
    ] == []


def test_every_page_forbids_to_load_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    allowed = [re.search(r'Content-Security-Policy" content="([^"]+)"', page.read_text()) for page in pages]
    assert all(
        policy is not None and "default-src 'none'" in policy[1] and "http" not in policy[1] for policy in allowed
    )


def test_the_script_that_draws_diagrams_is_in_the_site(site: Path) -> None:
    drawn = [path for path in site.rglob("*.html") if "assets/mermaid.js" in path.read_text()]
    assert [path.relative_to(site).as_posix() for path in drawn] == ["docs/architecture.html"]
    assert (site / "assets/mermaid.js").stat().st_size > 1 << 20


def test_a_site_that_cannot_be_built_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: object) -> None:
        raise StagingError("pages/a.md: b.md is not in the repository")

    (tmp_path / "index.html").write_text("before")
    monkeypatch.setattr(program, "build", wrong)
    assert program.main(["--to", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "the site was not built:\npages/a.md: b.md is not in the repository\n"
    assert (tmp_path / "index.html").read_text() == "before"


def test_what_the_generator_says_of_a_link_that_it_cannot_follow_is_shown(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text("# Here\n\n[there](gone.md)\n")
    (tmp_path / "zensical.toml").write_text('[project]\nsite_name = "x"\ndocs_dir = "pages"\n')
    with pytest.raises(program.BuildError) as caught:
        program.generate(tmp_path)
    for said in ("page does not exist", "index.md:3:9", "[there](gone.md)"):
        assert said in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_the_generator_is_that_of_this_python() -> None:
    assert Path(sys.executable).with_name("zensical").is_file()
