"""A built site is searched for links that lead nowhere and for what would be loaded from elsewhere."""

from pathlib import Path

import pytest

from tools.site.built import problems
from tools.site.own_assets import changed, take_in


def site(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        '<a href="other.html#there">', '<a href="#here"><p id="here">', '<a href="https://example.com">',
        '<a href="mailto:a@b">', '<link rel="canonical" href="https://example.com/">',
        '<img src="data:image/png;base64,AA==">', '<a href=".">', "<a>",
        '<a href="other.html?q=1">', '<link rel="next" href="other.html">',
    ],
)  # fmt: skip
def test_what_is_right_is_not_a_problem(text: str, tmp_path: Path) -> None:
    assert problems(site(tmp_path, index=text, other='<p id="there">')) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('<a href="gone.html">', "a link leads to gone.html, which is not there"),
        ('<a href="other.html#gone">', "a link leads to other.html#gone, and other.html has no such heading"),
        ('<a href="#gone">', "a link leads to index.html#gone, and index.html has no such heading"),
        ('<script src="gone.js">', "a link leads to gone.js, which is not there"),
        ('<script src="https://cdn.example/x.js">', "https://cdn.example/x.js is loaded from outside"),
        ('<link rel="stylesheet" href="//cdn.example/x.css">', "//cdn.example/x.css is loaded from outside"),
        ('<link rel="preconnect" href="https://fonts.example">', "https://fonts.example is loaded from outside"),
        ('<img src="http://example.com/x.png">', "http://example.com/x.png is loaded from outside"),
        ('<iframe src="https://video.example/">', "https://video.example/ is loaded from outside"),
    ],
)
def test_what_is_wrong_is_named_with_its_page(text: str, wrong: str, tmp_path: Path) -> None:
    assert problems(site(tmp_path, index=text, other="")) == [f"index.html: {wrong}"]


def test_a_fault_of_many_pages_is_named_once(tmp_path: Path) -> None:
    faulty = '<a href="gone.html">'
    assert problems(site(tmp_path, a=faulty, b=faulty, c=faulty)) == [
        "a.html and 2 more: a link leads to gone.html, which is not there"
    ]


@pytest.mark.parametrize("style", ["@import 'https://x.y/z.css';", "p { background: url(//x.y/z.png) }"])
def test_a_style_sheet_that_loads_from_elsewhere_is_wrong(style: str, tmp_path: Path) -> None:
    (tmp_path / "one.css").write_text(style)
    (found,) = problems(tmp_path)
    assert found.startswith("one.css: ")
    assert found.endswith("is loaded from outside")


def test_a_style_sheet_may_load_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "one.css").write_text("p { background: url(x.png) } q { background: url(data:image/png;base64,AA==) }")
    assert problems(tmp_path) == []


# What the theme would load from elsewhere


def test_scripts_of_the_theme_that_lie_elsewhere_are_replaced_and_forbidden() -> None:
    page = '<html>\n<head>\n<script src="https://unpkg.com/iframe-worker/shim"></script></head>'
    assert 'src="../assets/worker-in-page.js"' in changed(page, "..")
    assert "unpkg" not in changed(page, "..")
    assert "default-src 'none'" in changed(page, "..")


def test_only_pages_with_diagrams_load_the_script_that_draws_them(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "mermaid.js").write_text("draw()")
    (tmp_path / "docs").mkdir()
    site(tmp_path, **{"404": "<head>", "docs/drawn": '<head><pre class="mermaid">', "plain": "<head>"})
    take_in(tmp_path, tmp_path / "mermaid.js")
    assert 'src="../assets/mermaid.js"' in (tmp_path / "docs/drawn.html").read_text()
    assert "mermaid" not in (tmp_path / "plain.html").read_text()
    assert (tmp_path / "assets/mermaid.js").read_text() == "draw()"
    assert not (tmp_path / "404.html").exists()
