"""One line of JSON per record."""

import json
import logging

import pytest

from certs.managed.logs import LOG, log_to_standard_error


def test_a_record_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_standard_error()
    LOG.warning("%s", "a\nb \x1b[2J é")
    [line] = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("warning", "certs.managed", "a\\nb \\x1b[2J é")
    assert line.isascii()
    assert set(said) == {"time", "level", "logger", "message"}


def test_of_the_client_only_errors_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_standard_error()
    for level in (logging.INFO, logging.WARNING, logging.ERROR):
        logging.getLogger("kubeapi.leaderelection.election").log(level, "said")
    [line] = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("error", "kubeapi.leaderelection.election", "said")


def test_a_record_is_said_once_however_often_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_standard_error()
    log_to_standard_error()
    LOG.info("hello")
    assert len(capsys.readouterr().err.splitlines()) == 1
