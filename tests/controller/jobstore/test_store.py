"""The store of Jobs, processing elements and their pods: indices, and what it does with nonsense."""

import contextlib
import json
import logging

import pytest
from msgspec import Raw
from msgspec.structs import replace

from webhook.cluster.objects.metadata import MalformedError
from webhook.controller.jobstore.pod_reader import read_element_pod
from webhook.controller.jobstore.records import StoredElement, read_element
from webhook.controller.jobstore.store import JobStore, Records
from webhook.controller.jobstore.watched_kinds import job_kinds
from webhook.placement.elements.element_pod import ElementPod


def pod(element: str = "pe", uid: str = "u", **status: object) -> ElementPod:
    owner = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "ProcessingElement",
        "name": element,
        "uid": "e",
        "controller": True,
    }
    metadata = {
        "name": f"{element}-1",
        "namespace": "team",
        "uid": uid,
        "resourceVersion": "1",
        "labels": {"streams.ibm.com/pe": element},
        "ownerReferences": [owner],
    }
    found = read_element_pod(Raw(json.dumps({"metadata": metadata, "status": status}).encode()))
    assert found is not None
    return found


def test_a_pod_that_says_another_element_leaves_the_first() -> None:
    store = JobStore()
    store.put_pod(pod("one"))
    store.put_pod(pod("two"))
    assert (list(store.pods_of(("team", "one"))), len(list(store.pods_of(("team", "two"))))) == ([], 1)


def test_a_pod_whose_element_is_gone_is_not_remembered() -> None:
    store, heard = JobStore(), list[object]()
    store.on_pod.append(lambda _, after: heard.append(after))
    store.put_pod(pod())
    store.drop_pod("u")
    assert (heard, store.gone(("team", "pe"))) == ([pod(), None], None)


def test_the_other_pods_of_an_element_stay_when_one_is_gone() -> None:
    store = JobStore()
    store.put_pod(pod(uid="first"))
    store.put_pod(pod(uid="second"))
    store.drop_pod("first")
    assert list(store.pods_of(("team", "pe"))) == [pod(uid="second")]


def test_what_is_not_there_can_go() -> None:
    store = JobStore()
    store.drop_pod("nobody")
    store.jobs.drop(("team", "nobody"))
    assert (list(store.pod_uids), store.jobs.all) == ([], {})


def test_a_listener_that_fails_is_not_the_fault_of_the_object(caplog: pytest.LogCaptureFixture) -> None:
    store, heard = JobStore(), []

    def fail(*_: object) -> None:
        raise ValueError("no")

    store.on_pod += [fail, lambda _, after: heard.append(after)]
    with caplog.at_level(logging.ERROR):
        store.put_pod(pod())
    assert (heard, [record.message for record in caplog.records]) == ([pod()], ["a listener has failed"])


def test_a_container_that_waits_says_for_what() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    assert pod(containerStatuses=[{"name": "pe", "state": waiting}]).trouble == "ImagePullBackOff: no such image"


def ended(name: str, code: int, reason: str = "Error") -> dict[str, object]:
    return {"name": name, "state": {"terminated": {"exitCode": code, "reason": reason}}}


def test_a_sidecar_that_was_ended_is_not_how_a_pod_completed() -> None:
    found = pod(
        phase="Succeeded",
        containerStatuses=[ended("pe", 0, "Completed")],
        initContainerStatuses=[ended("sidecar", 143)],
    )
    assert (found.exit_code, found.reason) == (0, "Completed")


def test_an_init_container_that_failed_is_how_a_pod_failed() -> None:
    found = pod(phase="Failed", initContainerStatuses=[ended("init", 3)])
    assert (found.exit_code, found.reason) == (3, "Error")


def test_why_the_whole_pod_was_ended_comes_first() -> None:
    words = "Pod was active on the node longer than the specified deadline"
    found = pod(phase="Failed", reason="DeadlineExceeded", message=words, containerStatuses=[ended("pe", 137)])
    assert (found.exit_code, found.reason, found.message) == (137, "DeadlineExceeded", words)


def test_a_reason_of_any_length_fits_into_a_status() -> None:
    assert len(pod(phase="Failed", reason="x" * 5000).reason) == 1024
    disrupted = [{"type": "DisruptionTarget", "status": "True", "reason": "y" * 5000}]
    assert len(pod(phase="Failed", conditions=disrupted).disruption) == 1024


def element(version: int, **spec: object) -> StoredElement:
    metadata = {"name": "pe", "namespace": "team", "uid": "e", "resourceVersion": str(version)}
    return read_element(Raw(json.dumps({"metadata": metadata, "spec": {"job": "j", **spec}}).encode()))


class Heard:
    """The versions of an element that listeners are told of."""

    def __init__(self) -> None:
        self.records: Records[StoredElement] = Records()
        self.all: list[int] = []
        self.news: list[int] = []
        self.records.put(element(1))
        self.records.listeners.append(lambda _, after: self.all.append(after.version if after else 0))
        self.records.on_news.append(lambda _, after: self.news.append(after.version if after else 0))


def test_an_answer_is_not_news() -> None:
    heard = Heard()
    with heard.records.writing(("team", "pe")):
        heard.records.learn(element(2))
    heard.records.put(element(2))
    assert (heard.all, heard.news) == ([2], [])


def test_a_write_that_the_watch_brings_before_its_answer_is_not_news() -> None:
    heard = Heard()
    with heard.records.writing(("team", "pe")):
        heard.records.put(element(2))
        heard.records.learn(element(2))
    assert (heard.all, heard.news) == ([2], [])


def test_what_others_have_changed_after_a_write_is_news() -> None:
    heard = Heard()
    with heard.records.writing(("team", "pe")):
        heard.records.put(element(2))
        heard.records.put(element(3, launchCount=2))
        heard.records.learn(element(2))
    assert (heard.all, heard.news) == ([2, 3], [3])
    heard.records.put(element(4))
    heard.records.drop(("team", "pe"))
    assert heard.news == [3, 4, 0]


def test_without_an_answer_everything_is_news() -> None:
    heard = Heard()
    with contextlib.suppress(TimeoutError), heard.records.writing(("team", "pe")):
        heard.records.put(element(2))
        raise TimeoutError
    assert heard.news == [2]


def test_an_object_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedError, match=r"metadata.name: missing"):
        read_element(Raw(b'{"metadata": {}, "spec": {"job": "j"}}'))


def test_only_what_an_api_server_sends_is_read() -> None:
    pods = next(kind for kind in job_kinds(JobStore()) if kind.resource == "pods")
    with pytest.raises(MalformedError, match="not from an API server"):
        pods.read({"metadata": {"name": "a"}})


def test_a_pod_keeps_what_was_said_of_it() -> None:
    assert replace(pod(phase="Running"), uid="v") == pod(uid="v", phase="Running")


def test_two_writes_at_a_time_hide_no_change_of_others() -> None:
    heard = Heard()
    with heard.records.writing(("team", "pe")):
        with heard.records.writing(("team", "pe")):
            heard.records.put(element(2))
            heard.records.learn(element(2))
        assert heard.news == []
        heard.records.put(element(3, launchCount=2))
    assert heard.news == [3]


def test_a_state_from_before_an_answer_is_old() -> None:
    """A cache of an API server behind brings it."""
    heard = Heard()
    with heard.records.writing(("team", "pe")):
        heard.records.learn(element(3))
    heard.records.put(element(2))
    assert (heard.all, heard.news, heard.records.all["team", "pe"].version) == ([3], [], 3)


def test_of_an_object_that_is_gone_nothing_is_corrected() -> None:
    heard = Heard()
    heard.records.drop(("team", "pe"))
    heard.records.correct(element(2))
    assert (heard.all, heard.records.all) == ([0], {})


def test_a_pod_that_has_not_changed_is_not_news() -> None:
    store, heard = JobStore(), list[object]()
    store.on_pod.append(lambda _, after: heard.append(after))
    store.put_pod(pod())
    store.put_pod(pod())
    assert heard == [pod()]
