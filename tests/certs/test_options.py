"""Every flag, every variable, and every sentence about a wrong one."""

from pathlib import Path

import pytest

from certs import options
from certs.cli import main
from certs.managed import flags
from tests.certs.samples import NOW


def test_lifetimes_are_counted_from_now(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["create", "--dir", str(tmp_path), "--loopback", "--days", "30", "--ca-days", "60"], NOW)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "leaf until 2030-01-31 (30 days), authority until 2030-03-02 (60 days)"


@pytest.mark.parametrize(
    ("arguments", "sentences"),
    [
        pytest.param(
            ["--dir", "d"],
            ["no name is given: use --service with --namespace, --loopback, --dns or --ip"],
            id="no name",
        ),
        pytest.param(["--loopback"], ["no folder is given: use --dir"], id="no folder"),
        pytest.param(["--dir", "d", "--service", "web"], ["--service needs --namespace"], id="no namespace"),
        pytest.param(["--dir", "d", "--namespace", "ns"], ["--namespace needs --service"], id="no service"),
        pytest.param(
            ["--dir", "d", "--service", "Web", "--namespace", "n.s"],
            [
                (
                    '--service "Web" is not the name of a service: use 1 to 63 lower-case letters, digits '
                    "and '-', starting and ending with a letter or digit"
                ),
                (
                    '--namespace "n.s" is not the name of a namespace: use 1 to 63 lower-case letters, digits '
                    "and '-', starting and ending with a letter or digit"
                ),
            ],
            id="bad service and namespace",
        ),
        pytest.param(
            ["--dir", "d", "--dns", "a", "--dns", "a b", "--dns", "*.b", "--dns", "::1"],
            [
                (
                    "--dns \"a b\" is not a DNS name: use letters, digits, '-' and '.', at most 253 of them, "
                    "each part 1 to 63 long, starting and ending with a letter or digit"
                ),
                '--dns "*.b" is a wildcard: name each host',
                '--dns "::1" is an IP address: give it with --ip',
            ],
            id="bad DNS names",
        ),
        pytest.param(
            ["--dir", "d", "--ip", "10.0.0.0/8"],
            ['--ip "10.0.0.0/8" is not an IP address: write 10.0.0.1 or fd00::1, without length or zone'],
            id="bad address",
        ),
        pytest.param(
            ["--dir", "d", "--loopback", "--days", "0", "--ca-days", "-1"],
            [
                '--days "0" is not a number of days: use a whole number, 1 to 36500',
                '--ca-days "-1" is not a number of days: use a whole number, 1 to 36500',
            ],
            id="days below one",
        ),
        pytest.param(
            ["--dir", "d", "--loopback", "--days", "36501", "--ca-days", "1.5"],
            [
                '--days "36501" is not a number of days: use a whole number, 1 to 36500',
                '--ca-days "1.5" is not a number of days: use a whole number, 1 to 36500',
            ],
            id="days beyond the limit, and a fraction",
        ),
    ],
)
def test_wrong_use_of_create(arguments: list[str], sentences: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["create", *arguments])
    assert (code, capsys.readouterr().err.splitlines()) == (
        2,
        [f"streams-placement-certs create: {sentence}" for sentence in sentences],
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([], "no folder is given: use --dir", id="no folder"),
        pytest.param(
            ["--dir", "d", "-o", "xml"], '--output "xml" is not a format: use text or json', id="unknown format"
        ),
    ],
)
def test_wrong_use_of_show(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["show", *arguments])
    assert (code, capsys.readouterr().err) == (2, f"streams-placement-certs show: {sentence}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            [], "streams-placement-certs: error: the following arguments are required: COMMAND", id="no command"
        ),
        pytest.param(
            ["show", "--d", "x"],
            "streams-placement-certs: error: unrecognized arguments: --d x",
            id="abbreviated flag",
        ),
        pytest.param(
            ["create", "--dir"],
            "streams-placement-certs create: error: argument --dir: expected one argument",
            id="no value",
        ),
    ],
)
def test_arguments_that_are_none(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code, capsys.readouterr().err.splitlines()[-1]) == (2, sentence)


def test_variables_speak_when_flags_do_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"DIR": str(tmp_path), "SERVICE": "web", "NAMESPACE": "ns", "LOOPBACK": "true", "DNS": "a, B c"}
    for name, value in (said | {"IP": "10.0.0.1 fd00::1", "DAYS": "10", "CA_DAYS": "20", "FORCE": "1"}).items():
        monkeypatch.setenv(options.PREFIX + name, value)
    main(["create"], NOW)
    assert capsys.readouterr().out.splitlines() == [
        f"made ca.key, ca.crt, tls.key, tls.crt in {tmp_path}: --force was given",
        "for web.ns.svc, web.ns.svc.cluster.local, web, web.ns, a, b, c, localhost, 10.0.0.1, fd00::1, 127.0.0.1, ::1",
        "leaf until 2030-01-11 (10 days), authority until 2030-01-21 (20 days)",
    ]


def test_the_variable_of_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_CERTS_OUTPUT", "json")
    main(["show", "--dir", str(tmp_path)])
    assert capsys.readouterr().out.startswith("{\n")


@pytest.mark.parametrize(
    ("said", "flags", "names"),
    [
        pytest.param("LOOPBACK=yes", ["--no-loopback", "--dns", "a"], "a", id="switch"),
        pytest.param("DNS=b", ["--dns", "a"], "a", id="list"),
        pytest.param("LOOPBACK=", ["--dns", "a"], "a", id="empty"),
        pytest.param("LOOPBACK=Off", ["--dns", "a"], "a", id="off"),
    ],
)
def test_flags_win_over_variables(
    said: str,
    flags: list[str],
    names: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable, _, value = said.partition("=")
    monkeypatch.setenv(options.PREFIX + variable, value)
    main(["create", "--dir", str(tmp_path), *flags])
    assert capsys.readouterr().out.splitlines()[1] == f"for {names}"


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        pytest.param("FORCE", "maybe", '"maybe" is neither true nor false', id="switch"),
        pytest.param("DAYS", "x", '"x" is not a number of days: use a whole number, 1 to 36500', id="days"),
        pytest.param("DNS", "a 1.2.3.4", '"1.2.3.4" is an IP address: give it with --ip', id="list"),
    ],
)
def test_a_wrong_variable_is_named(
    variable: str, value: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(options.PREFIX + variable, value)
    code = main(["create", "--dir", "d", "--loopback"])
    assert (code, capsys.readouterr().err) == (
        2,
        f"streams-placement-certs create: {options.PREFIX}{variable} {sentence}\n",
    )


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        pytest.param("create", options.CREATE, id="create"),
        pytest.param("show", options.SHOW, id="show"),
        pytest.param("manage", flags.MANAGE, id="manage"),
    ],
)
def test_help_shows_every_flag_with_its_variable(
    command: str, offered: tuple[options.Option, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert [option.name for option in offered if f"--{option.name}" not in text] == []
    assert [option.name for option in offered if f"{option.meaning} [{option.variable}]" not in text] == []


def test_help_shows_all_commands_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for words in (
        "make an authority and a leaf, or keep good ones",
        "show what a folder holds, and whether it is usable",
        "keep those of a webhook in a cluster",
        "Exit codes: 0 done, 1 refused or unusable, 2 usage error, 3 failure of the folder or the cluster.",
    ):
        assert words in text
