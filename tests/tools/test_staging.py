"""Pages are taken into the site with everything that they link to, and a page with a dead link is refused."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.site.staging import Stage, StagingError

pytestmark = pytest.mark.untraced

SILENT = (
    'pages/page.md:3: no line of this block starts with "$ ", so nothing runs it: add prompts, or say sh no-run: REASON'
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One with a page, a folder of manifests and a file that no page links to."""
    files = {
        "pages/page.md": "# Page\n\n[pod](../examples/pod.yaml), [all](../examples), [itself](#page), [web](https://x.y/z)\n",
        "examples/pod.yaml": "kind: Pod\n",
        "examples/more/note.txt": "text with ``` in it",
        "secret.txt": "",
    }
    for name, text in files.items():
        (tmp_path / "repository" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / name).write_text(text)
    return tmp_path / "repository"


def staged(repository: Path) -> Path:
    stage = repository.parent / "stage"
    Stage(repository, stage).write(["pages"])
    return stage


def test_links_lead_to_pages_about_what_they_led_to(repository: Path) -> None:
    assert (staged(repository) / "pages/page.md").read_text() == (
        "# Page\n\n[pod](../examples/pod.yaml.md), [all](../examples/index.md), [itself](#page), [web](https://x.y/z)\n"
    )


def test_a_file_is_a_page_that_no_search_finds(repository: Path) -> None:
    assert (staged(repository) / "examples/pod.yaml.md").read_text() == (
        "---\nsearch:\n  exclude: true\n---\n\n# examples/pod.yaml\n\n```yaml\nkind: Pod\n```\n"
    )


def test_a_folder_is_a_list_of_what_is_in_it(repository: Path) -> None:
    listing = (staged(repository) / "examples/index.md").read_text()
    assert listing.endswith("# examples\n\n- [more](more/index.md)\n- [pod.yaml](pod.yaml.md)\n")


def test_a_folder_is_listed_without_what_python_compiled(repository: Path) -> None:
    """The folder of a test is linked to, and the test has been run."""
    (repository / "examples" / "__pycache__").mkdir()
    (repository / "examples" / "__pycache__" / "test.pyc").write_bytes(b"\xa7\r\r\n")
    test_a_folder_is_a_list_of_what_is_in_it(repository)


def test_a_file_with_backticks_stands_between_more_of_them(repository: Path) -> None:
    shown = (staged(repository) / "examples/more/note.txt.md").read_text()
    assert shown.endswith("\n````text\ntext with ``` in it\n````\n")


def test_pictures_stay_what_they_are(repository: Path) -> None:
    picture = bytes(range(256))
    (repository / "pages/drawn.png").write_bytes(picture)
    (repository / "examples/sketch.svg").write_bytes(picture)
    page = "![drawn](drawn.png) ![sketch](../examples/sketch.svg) [all](../examples/)\n"
    (repository / "pages/page.md").write_text(page)
    stage = staged(repository)
    assert (stage / "pages/page.md").read_text() == page.replace("examples/)", "examples/index.md)")
    assert (stage / "pages/drawn.png").read_bytes() == (stage / "examples/sketch.svg").read_bytes() == picture
    assert "- [sketch.svg](sketch.svg)\n" in (stage / "examples/index.md").read_text()


def test_a_bundle_is_not_text_and_can_be_downloaded(repository: Path) -> None:
    bundle = b"PK\3\4" + bytes(range(256))
    (repository / "examples/all.sab").write_bytes(bundle)
    stage = staged(repository)
    assert (stage / "examples/all.sab").read_bytes() == bundle
    assert "- [all.sab](all.sab)\n" in (stage / "examples/index.md").read_text()


def test_what_nothing_links_to_is_not_taken(repository: Path) -> None:
    assert not list(staged(repository).glob("secret*"))


def test_every_dead_link_and_every_silent_block_is_named(repository: Path) -> None:
    (repository / "pages/page.md").write_text("[a](gone.md) [b](../../outside.md)\n\n```sh\nmake\n```\n")
    with pytest.raises(StagingError) as caught:
        staged(repository)
    assert str(caught.value).splitlines() == [
        SILENT,
        "pages/page.md: gone.md is not in the repository",
        "pages/page.md: ../../outside.md is not in the repository",
    ]


def test_a_session_at_a_terminal_is_coloured_as_one(repository: Path) -> None:
    (repository / "pages/page.md").write_text("```sh\n$ true\n```\n\n```sh no-run: slow\nmake\n```\n")
    assert (staged(repository) / "pages/page.md").read_text() == "```console\n$ true\n```\n\n```sh\nmake\n```\n"


def test_all_pages_of_this_repository_can_be_taken(tmp_path: Path) -> None:
    Stage(ROOT, tmp_path).write()
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= {
        path.name for path in (tmp_path / "docs").glob("*.md")
    }
