"""The namespace of the pod around us."""

from pathlib import Path

from kubeapi.client.service_account import own_namespace


def test_it_stands_in_a_file_of_the_service_account(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("streams\n")
    assert own_namespace(tmp_path) == "streams"


def test_outside_of_a_pod_there_is_none(tmp_path: Path) -> None:
    assert own_namespace(tmp_path) == ""
