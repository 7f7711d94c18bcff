"""The page about inputs of other systems says what the code does."""

import pytest

from tests.docs.pages import page
from webhook.cli import main
from webhook.cli.arguments import inputs
from webhook.convert import bundle, located_yaml, source_text
from webhook.convert.adl.reading import ADL_LIMIT
from webhook.convert.input_kind import InputKind
from webhook.placement.objects.jobs.job_operators import OPERATORS_LIMIT, STREAMS_LIMIT
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.spl.placement import CLAUSE_LIMIT

PAGE = page("coming-from.md")
MIB = 1024 * 1024


def test_the_limits_are_those_of_the_code() -> None:
    table = PAGE.partition("\n## Limits\n")[2]
    limits = dict(line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| "))
    assert limits == {
        "what": "limit",
        "a text; an ADL; a bundle": (
            f"{source_text.TEXT_LIMIT // MIB} MiB; {ADL_LIMIT // MIB} MiB; {bundle.BUNDLE_LIMIT // MIB} MiB"
        ),
        "a member of a bundle, unpacked; how many times larger than packed; members": (
            f"{bundle.UNPACKED_LIMIT // MIB // 1024} GiB; {bundle.RATIO_LIMIT} times, if it is over 16 MiB; "
            f"{bundle.MEMBER_LIMIT:,}"
        ),
        "programs of a folder": f"{inputs.FOLDER_LIMIT:,}",
        "operators of an application; streams, counting each channel": f"{OPERATORS_LIMIT:,}; {STREAMS_LIMIT:,}",
        "clauses of an operator": str(CLAUSE_LIMIT),
        "nesting of YAML and JSON; values of one input": f"{located_yaml.DEPTH} levels; 200,000",
        "nesting of an ADL": "200 elements",
    }


def test_every_flag_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--help"]) == 0
    shown = capsys.readouterr().out
    flags = {word.strip(",") for word in shown.split() if word.startswith("--")} - {"--help"}
    assert [flag for flag in sorted(flags) if f"`{flag}" not in PAGE] == []


def test_every_kind_and_clause_is_on_the_page() -> None:
    assert [kind for kind in InputKind if f"`{kind}`" not in PAGE] == []
    assert [clause for clause in ClauseName if clause not in PAGE] == []
