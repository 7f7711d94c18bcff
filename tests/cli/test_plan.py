"""``streams-placement plan``: where everything that manifests describe would run, and what it costs."""

import contextlib
import functools
import io
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.golden.examples import EXAMPLES
from tests.yaml_values import loaded
from webhook.cli import main
from webhook.placement.planning.plan import cheapest

CLUSTER = str(EXAMPLES / "cluster")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``plan`` with these words, run in the repository: exit code, standard output, standard error."""
    monkeypatch.chdir(EXAMPLES.parent)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["plan", "--snapshot", CLUSTER, *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def written(folder: Path, *documents: object) -> str:
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def a_job(name: str, *elements: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"bundle": {"name": "a.sab"}, "processingElements": list(elements), **spec},
    }


def an_element(placement: str = "", operator: str = "Op", cpu: str = "") -> dict[str, Any]:
    stated: dict[str, Any] = {"operators": [{"name": operator, "placement": placement}]} if placement else {}
    return stated | ({"resources": {"requests": {"cpu": cpu}}} if cpu else {})


def test_a_plan_names_a_node_for_each_element_and_what_stays_free(plan: Run) -> None:
    code, out, _ = plan("-f", "examples/job-parallel.yaml")
    assert code == 0
    assert out == (
        "examples/job-parallel.yaml: Job apps-parallel in namespace default\n"
        "  admitted, 3 pods on 3 nodes\n"
        "  ELEMENT          NODE       COST  CONSTRAINTS\n"
        "  apps-parallel-0  worker-2   1055  host(MyPool), requests cpu 100m, memory 128Mi\n"
        '  apps-parallel-1  foo        1007  requests cpu 100m, memory 128Mi, hostColocation("work")\n'
        "  apps-parallel-2  worker-11  1000  requests cpu 100m, memory 128Mi, hostIsolation\n"
        "total cost 3062 (no plan is cheaper)\n"
        "NODE       FREE AFTERWARDS\n"
        "foo        cpu 7.9 of 8, memory 31.875Gi of 32Gi, pods 109 of 110\n"
        "worker-2   cpu 7.4 of 8, memory 30.875Gi of 32Gi, pods 108 of 110\n"
        "worker-11  cpu 63.9 of 64, memory 255.875Gi of 256Gi, pods 109 of 110\n"
    )


def test_what_does_not_fit_is_refused_and_the_rest_is_planned(plan: Run) -> None:
    code, out, _ = plan("-o", "json", "-f", "examples/refused-job-whole.yaml", "examples/job-parallel.yaml")
    found = json.loads(out)
    assert code == 1
    assert [subject["verdict"] for subject in found["subjects"]] == ["refused", "admitted"]
    [conflict] = found["subjects"][0]["conflicts"]
    assert conflict.pop("closed")
    assert conflict == {
        "clauses": ["host(MyPool)", 'hostExlocation("apart")'],
        "elements": ["apart-parallel-0", "apart-parallel-1", "apart-parallel-2"],
        "fix": "label one more node streams.ibm.com/hostpool=source (at least 3 of 10 nodes help), or drop "
        "host(MyPool) (all 3 would fit), "
        "or run 2 of these 3",
    }
    assert [element["node"] for element in found["subjects"][0]["elements"]] == ["", "", ""]
    assert all(element["node"] for element in found["subjects"][1]["elements"])


def test_jobs_of_one_manifest_are_planned_together(plan: Run, tmp_path: Path) -> None:
    large = [an_element(cpu="60"), an_element(cpu="60")]
    code, out, _ = plan("-f", written(tmp_path, a_job("one", large[0]), a_job("two", large[1])))
    assert code == 1
    assert "Job two in namespace default\n  refused\n" in out
    assert "1 of 2 processing elements fits (one-0, two-0)." in out
    assert "worker-11" in out


def test_a_plan_as_yaml_says_the_same_as_json(plan: Run) -> None:
    _, one, _ = plan("-o", "yaml", "-f", "examples/job-parallel.yaml")
    _, other, _ = plan("-o", "json", "-f", "examples/job-parallel.yaml")
    assert loaded(one) == json.loads(other)


def test_a_workload_has_its_pods_on_several_nodes(plan: Run) -> None:
    code, out, _ = plan("-f", "examples/replicas.yaml")
    assert code == 0
    assert "6 pods on 6 nodes" in out
    assert "bar (1), foo (1), foo.watson.ibm.com (1) and 3 more" in out


def test_rules_say_why_all_other_nodes_are_closed(plan: Run) -> None:
    _, out, _ = plan("-o", "json", "-f", "examples/job-parallel.yaml")
    found = json.loads(out)
    element = found["subjects"][0]["elements"][0]
    closed = [found["rules"][at] for at in element["closed"]]
    assert [(rule["clause"], rule["reason"]) for rule in closed] == [
        ("host(MyPool)", "is not in HostPool MyPool (tag source)"),
        ("", "has the taint dedicated=infra:NoSchedule"),
    ]
    names = [node["name"] for node in found["nodes"]]
    shut = {names[at] for rule in closed for first, last in rule["nodes"] for at in range(first, last + 1)}
    assert {*names} - shut == {"worker-1", "worker-2"}
    assert names.index("worker-2") < names.index("worker-10")


def test_nodes_without_free_room_are_closed_by_a_rule_of_their_own(plan: Run, tmp_path: Path) -> None:
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, a_job("large", an_element(cpu="8"))))
    assert "has less than cpu 8 free" in [rule["reason"] for rule in json.loads(out)["rules"]]


def test_relations_say_which_elements_are_tied(plan: Run, tmp_path: Path) -> None:
    job = a_job(
        "tied",
        an_element('hostColocation("t")', "A"),
        an_element('hostColocation("t")', "B"),
        an_element('hostExlocation("u")', "C"),
        an_element('hostExlocation("u")', "D"),
        an_element("hostIsolation", "E"),
    )
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job))
    assert json.loads(out)["subjects"][0]["relations"] == [
        {"kind": "together", "clause": 'hostColocation("t")', "elements": ["tied-0", "tied-1"]},
        {"kind": "apart", "clause": 'hostExlocation("u")', "elements": ["tied-2", "tied-3"]},
        {"kind": "alone", "clause": "hostIsolation", "elements": ["tied-4"]},
    ]


def test_pools_have_the_hosts_that_the_plan_chooses(plan: Run, tmp_path: Path) -> None:
    pools = [{"name": "X", "size": 2, "mode": "Exclusive"}, {"name": "Y", "size": 1}]
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, a_job("pooled", an_element("host(X[1])"), hostPools=pools)))
    found = json.loads(out)
    chosen = {pool["name"]: [host["node"] for host in pool["hosts"]] for pool in found["pools"]}
    assert (len(chosen["X"]), len(chosen["Y"])) == (2, 1)
    assert not {*chosen["X"]} & {*chosen["Y"]}
    assert found["subjects"][0]["elements"][0]["node"] == chosen["X"][1]
    assert {"X[0]", "X[1]", "Y[0]"} <= {name for node in found["nodes"] for name in node["pools"]}


def test_hosts_of_a_pool_without_a_size_are_its_eligible_nodes(plan: Run) -> None:
    _, out, _ = plan("-o", "json", "-f", "examples/job-parallel.yaml")
    found = json.loads(out)
    [pool] = found["pools"]
    names = [node["name"] for node in found["nodes"]]
    assert (pool["size"], pool["hosts"]) == (None, [])
    eligible = [names[at] for first, last in pool["eligible"] for at in range(first, last + 1)]
    assert eligible == ["worker-1", "worker-2", "worker-3"]
    assert [element["pools"] for element in found["subjects"][0]["elements"]] == [[0], [], []]


def test_pools_that_list_their_hosts_have_a_size_and_pools_of_one_name_their_job(plan: Run, tmp_path: Path) -> None:
    jobs = [
        a_job(name, an_element("host(P)"), hostPools=[{"name": "P", "hosts": [host]}])
        for name, host in (("one", "foo"), ("two", "bar"))
    ]
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, *jobs))
    found = json.loads(out)
    assert [(pool["name"], pool["job"], pool["size"]) for pool in found["pools"]] == [("P", "one", 1), ("P", "two", 1)]
    pools = {node["name"]: node["pools"] for node in found["nodes"] if node["pools"]}
    assert pools == {
        "bar": ["P (Job two)[0]"],
        "foo": ["P (Job one)[0]"],
    }


def test_elements_are_in_the_order_in_which_people_count(plan: Run, tmp_path: Path) -> None:
    apart = 'hostExlocation("t")'
    job = a_job("counted", *(an_element(apart if at % 2 else "", f"Op{at}") for at in range(11)))
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job))
    [subject] = json.loads(out)["subjects"]
    assert [element["name"] for element in subject["elements"]] == [f"counted-{at}" for at in range(11)]
    assert subject["relations"][0]["elements"] == [f"counted-{at}" for at in range(1, 11, 2)]


def test_a_plan_whose_cost_is_not_proved_is_decided(plan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.placementreview.plans.plan.cheapest", functools.partial(cheapest, exact=False))
    _, out, _ = plan("-o", "json", "-f", "examples/job-parallel.yaml")
    found = json.loads(out)
    assert (found["undecided"], found["cheapest"]) == (False, False)
    _, text, _ = plan("-f", "examples/job-parallel.yaml")
    assert "(the cheapest found in time)" in text


def test_an_element_that_cannot_run_by_itself_is_named(plan: Run, tmp_path: Path) -> None:
    code, out, _ = plan("-f", written(tmp_path, a_job("lost", an_element(), an_element('host("worker-99")'))))
    assert code == 1
    assert '  processing element lost-1: host("worker-99") cannot hold: 0 of 13 nodes can run this pod.\n' in out


def test_all_elements_that_cannot_run_by_themselves_are_named(plan: Run, tmp_path: Path) -> None:
    contrary = an_element('hostColocation("c"), hostExlocation("c")', "Contrary")
    file = written(tmp_path, a_job("j", contrary, an_element('host("nowhere")'), an_element()))
    _, out, _ = plan("-f", file)
    first, contradiction, lost = out.splitlines()[2:5]
    assert first == "  2 of 3 processing elements cannot run even by themselves (j-0, j-1):"
    assert contradiction.endswith(' hostColocation("c") and hostExlocation("c") contradict each other')
    assert lost.startswith('    j-1: host("nowhere") cannot hold: 0 of 13 nodes can run this pod. ')
    (subject,) = json.loads(plan("-f", file, "-o", "json")[1])["subjects"]
    assert [(found["clauses"], found["elements"]) for found in subject["conflicts"]] == [(['host("nowhere")'], ["j-1"])]


def test_each_kind_of_elements_that_cannot_run_by_themselves_has_a_conflict(plan: Run, tmp_path: Path) -> None:
    here, there, again = an_element('host("here")'), an_element('host("there")', "B"), an_element('host("here")', "C")
    job = a_job("j", here, an_element(), there, again)
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job))
    found = json.loads(out)
    [subject] = found["subjects"]
    assert [(conflict["clauses"], conflict["elements"]) for conflict in subject["conflicts"]] == [
        (['host("here")'], ["j-0", "j-3"]),
        (['host("there")'], ["j-2"]),
    ]
    closed = [[found["rules"][at]["reason"] for at in conflict["closed"]] for conflict in subject["conflicts"]]
    assert [reasons[0] for reasons in closed] == ["is not named here", "is not named there"]
    assert [element["name"] for element in subject["elements"]] == ["j-0", "j-1", "j-2", "j-3"]


def test_the_clauses_of_a_conflict_have_all_nodes_that_each_of_them_closes(plan: Run) -> None:
    _, out, _ = plan("-o", "json", "-f", "examples/refused-job-whole.yaml")
    closed = closed_by_conflict(json.loads(out))
    assert closed["host(MyPool)", "is not in HostPool MyPool (tag source)"] == 10
    assert closed["", "has the taint node-role.kubernetes.io/control-plane:NoSchedule"] == 1
    assert {clause for clause, _ in closed} == {"", "host(MyPool)"}


def test_requests_of_a_conflict_close_the_nodes_that_have_too_little_free(plan: Run, tmp_path: Path) -> None:
    job = a_job("two", an_element(cpu="60"), an_element(cpu="60"))
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job))
    clause = "cpu 60 (resources of processing elements two-0, two-1)"
    assert closed_by_conflict(json.loads(out))[clause, "has less than cpu 60 free"] == 12


def test_elements_outside_of_a_conflict_close_no_nodes_in_it(plan: Run, tmp_path: Path) -> None:
    apart = [an_element('host(MyPool), hostExlocation("t")', f"Op{at}") for at in range(3)]
    job = a_job("mixed", an_element('host("foo")', "Far"), *apart)
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job), "examples/job-parallel.yaml")
    found = json.loads(out)
    assert found["subjects"][0]["conflicts"][0]["elements"] == ["mixed-1", "mixed-2", "mixed-3"]
    assert {clause for clause, _ in closed_by_conflict(found)} == {"", "host(MyPool)"}


def test_an_element_that_cannot_run_by_itself_has_the_conflict_of_its_clauses(plan: Run, tmp_path: Path) -> None:
    job = a_job("lost", an_element(), an_element('host("worker-99")'))
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, job))
    found = json.loads(out)
    [subject] = found["subjects"]
    assert [element["name"] for element in subject["elements"]] == ["lost-0", "lost-1"]
    [conflict] = subject["conflicts"]
    assert (conflict["clauses"], conflict["elements"]) == (['host("worker-99")'], ["lost-1"])
    assert closed_by_conflict(found)['host("worker-99")', "is not named worker-99"] == 13


def test_pools_that_cannot_be_had_are_those_of_their_job(plan: Run, tmp_path: Path) -> None:
    file = written(tmp_path, a_job("app", an_element(), hostPools=[{"name": "L", "hosts": ["nope"]}]))
    _, out, _ = plan("-o", "json", "-f", file)
    assert [(pool["name"], pool["size"], pool["hosts"]) for pool in json.loads(out)["pools"]] == [("L", 1, [])]


def test_each_of_several_pools_without_their_hosts_is_a_conflict(plan: Run, tmp_path: Path) -> None:
    pools = [{"name": name, "size": 1, "tags": [name.lower()], "mode": "Exclusive"} for name in "YZ"]
    file = written(tmp_path, a_job("app", an_element(), hostPools=pools))
    _, out, _ = plan("-o", "json", "-f", file)
    [subject] = json.loads(out)["subjects"]
    assert subject["message"].startswith("HostPools of the Job cannot have their hosts, for 2 reasons:\n")
    assert [(conflict["clauses"], conflict["fix"]) for conflict in subject["conflicts"]] == [
        (
            [f"HostPool {name} (1 host, Exclusive)"],
            (
                f"label one more node streams.ibm.com/hostpool={name.lower()} (only 4 of 13 nodes help; "
                f"HostPool {name} could then have its hosts)"
            ),
        )
        for name in "YZ"
    ]


def broken() -> dict[str, Any]:
    """A Job with a HostPool of a wrong list, and elements that cannot run by themselves, one of them on its hosts."""
    spec = {"nodeSelector": {"disktype": "nvme"}, "containers": [{"name": "worker", "image": "worker:1"}]}
    listed = {**an_element("host(L)"), "template": {"spec": spec}}
    pools = [{"name": "L", "hosts": ["gone"]}, {"name": "Z", "size": 1, "tags": ["z"]}]
    return a_job("app", listed, an_element('host("nowhere")', "Far"), an_element(), hostPools=pools)


def test_wrong_lists_and_elements_that_cannot_run_are_told_of_in_one_refusal(plan: Run, tmp_path: Path) -> None:
    """In the words of admission, elements first."""
    file = written(tmp_path, broken())
    code, out, _ = plan("-f", file)
    assert code == 1
    refusal = (
        "2 of 3 processing elements cannot run even by themselves (app-0, app-1), "
        "and HostPools of the Job cannot have their hosts:\n"
        "    app-0: nodeSelector disktype=nvme cannot hold: 0 of 13 nodes can run this pod. "
        "Nearest fix: label one more node disktype=nvme (only 8 of 13 nodes help), "
        "or drop nodeSelector disktype=nvme (8 nodes would fit).\n"
        '    app-1: host("nowhere") cannot hold: 0 of 13 nodes can run this pod. '
        'Nearest fix: add a node named nowhere, or drop host("nowhere") (8 nodes would fit).\n'
        "    HostPool L cannot be completed: it lists 1 host and finds 0 nodes "
        '(hosts[0]: "gone" is not a node). Nearest fix: list each host once, by the name or an address of a node.\n'
        "    HostPool Z (1 host, Shared) cannot have its hosts: 0 nodes are eligible (13 nodes lack the tag z). "
        "Nearest fix: label one more node streams.ibm.com/hostpool=z (only 7 of 13 nodes help; "
        "HostPool Z could then have its hosts).\n"
    )
    assert refusal in out
    assert recovered(refusal) in explained(file)
    _, out, _ = plan("-o", "json", "-f", file)
    [subject] = json.loads(out)["subjects"]
    assert [(conflict["clauses"], conflict["elements"]) for conflict in subject["conflicts"]] == [
        (["nodeSelector disktype=nvme"], ["app-0"]),
        (['host("nowhere")'], ["app-1"]),
        (["HostPool Z (1 host, Shared)"], []),
    ]
    assert [pool["name"] for pool in json.loads(out)["pools"]] == ["L", "Z"]


def recovered(text: str) -> str:
    """What admission says instead: to it the node that is not ready counts as if it were."""
    return text.replace("(only 7 of 13 nodes help;", "(only 8 of 13 nodes help;")


def explained(file: str) -> str:
    """What ``explain`` prints of the manifest."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        main(["explain", "--snapshot", CLUSTER, "-f", file])
    return output.getvalue()


def test_elements_that_cannot_run_are_told_of_with_pools_that_are_too_large(plan: Run, tmp_path: Path) -> None:
    pools = [{"name": "P", "size": 1}, {"name": "Z", "size": 1, "tags": ["z"]}]
    file = written(tmp_path, a_job("app", an_element('host("nowhere")'), hostPools=pools))
    code, out, _ = plan("-f", file)
    assert code == 1
    assert (
        "1 of 1 processing element cannot run even by itself (app-0), and HostPools of the Job cannot have their hosts:"
        in out
    )
    assert "    HostPool Z (1 host, Shared) cannot have its hosts: 0 nodes are eligible" in out
    assert recovered(out) in explained(file)


def test_nodes_have_the_labels_of_their_zone_and_their_rack(plan: Run, tmp_path: Path) -> None:
    where = {"topology.kubernetes.io/zone": "a", "example.com/rack": "r1", "rack": "r2"}
    labels = {"kubernetes.io/hostname": "racked", "example.com/racket": "no"} | where
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    racked = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "racked", "labels": labels}, "status": status}
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, racked, a_job("app", an_element())))
    assert {node["name"]: node["labels"] for node in json.loads(out)["nodes"]}["racked"] == where


def closed_by_conflict(found: dict[str, Any]) -> dict[tuple[str, str], int]:
    """How many nodes each rule of the first object's conflict closes, by its clause and its reason."""
    rules = [found["rules"][at] for at in found["subjects"][0]["conflicts"][0]["closed"]]
    return {(rule["clause"], rule["reason"]): sum(last - first + 1 for first, last in rule["nodes"]) for rule in rules}


def test_a_job_that_breaks_rules_is_refused_for_them(plan: Run) -> None:
    code, out, _ = plan("-f", "examples/refused-job-fusion.yaml")
    assert code == 1
    assert "spec.fusion: automatic and manual exclude each other" in out


def test_a_pod_that_cannot_run_is_refused_in_its_own_words(plan: Run) -> None:
    code, out, _ = plan("-f", "examples/refused-tainted-host.yaml")
    assert code == 1
    assert "  refused\n  host(" in out


def test_a_list_of_hosts_that_are_none_is_refused(plan: Run, tmp_path: Path) -> None:
    file = written(tmp_path, a_job("app", an_element(), hostPools=[{"name": "L", "hosts": ["nope"]}]))
    code, out, _ = plan("-f", file)
    assert code == 1
    assert "HostPool L cannot be completed: it lists 1 host and finds 0 nodes.\n" in out


def test_a_toleration_of_everything_beside_an_exclusive_pool_is_refused(plan: Run, tmp_path: Path) -> None:
    spec = {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "main", "image": "worker:1"}]}
    pools = [{"name": "P", "size": 1, "mode": "Exclusive"}]
    file = written(tmp_path, a_job("app", {"template": {"spec": spec}}, hostPools=pools))
    code, out, _ = plan("-f", file)
    assert code == 1
    assert "processing element app-0: spec.tolerations[0]: a toleration of everything would let the pod" in out


def test_without_time_the_plan_says_that_it_may_not_be_the_cheapest(plan: Run) -> None:
    code, out, _ = plan("--seconds", "0", "-f", "examples/job-parallel.yaml")
    assert code == 0
    assert "no decision in time on whether all processing elements can run at the same time" in out


def test_the_page_shows_the_plan(plan: Run) -> None:
    code, out, _ = plan("-o", "html", "-f", "examples/job-parallel.yaml")
    assert code == 0
    assert out.startswith("<!doctype html>")
    assert "apps-parallel-2" in out


def test_manifests_without_pods_leave_nothing_to_plan(plan: Run, tmp_path: Path) -> None:
    code, _, err = plan("-f", written(tmp_path, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}))
    assert code == 0
    assert err == ("streams-placement: warning: nothing to plan: no pod, workload or Job in the manifests\n")


def test_an_unreadable_object_is_wrong_use(plan: Run, tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": "none"}}
    code, _, err = plan("-f", written(tmp_path, pod))
    assert code == 2
    assert 'Pod is not readable: spec.containers: "none" is a text, expected a list' in err


def test_nothing_is_planned_if_a_file_cannot_be_read(plan: Run, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("- 1\n")
    code, out, err = plan("-f", "examples/job-parallel.yaml", str(tmp_path))
    assert (code, out) == (2, "")
    assert err.endswith("/b.yaml: a document is not a Kubernetes object: it has no kind\n")


def test_many_nodes_are_counted(plan: Run, tmp_path: Path) -> None:
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"extra-{at:02}", "labels": {"kubernetes.io/hostname": f"extra-{at:02}"}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for at in range(25)
    ]
    apart = [an_element('hostExlocation("t")', f"Op{at}") for at in range(22)]
    code, out, _ = plan("-f", written(tmp_path, *nodes, a_job("wide", *apart)))
    assert code == 0
    assert out.endswith("and 2 more nodes; -o json has all\n")


def test_explain_has_the_same_page(plan: Run, capsys: pytest.CaptureFixture[str]) -> None:
    _, planned, _ = plan("-o", "html", "-f", "examples/job-parallel.yaml")
    assert main(["explain", "-o", "html", "--snapshot", CLUSTER, "-f", "examples/job-parallel.yaml"]) == 0
    assert capsys.readouterr().out == planned.replace(">Plan<", ">Explanation<").replace(
        '"title":"Plan"', '"title":"Explanation"'
    )


def test_a_pod_that_waits_for_a_node_to_recover_has_no_place_now(plan: Run) -> None:
    code, out, _ = plan("-f", "examples/host-not-ready.yaml")
    assert code == 1
    assert 'host("worker-13") cannot hold: 0 of 1 pod fit' in out
    assert "1 node is not ready" in out


def test_a_pod_with_a_mistake_is_refused_for_it(plan: Run, tmp_path: Path) -> None:
    code, out, _ = plan("-f", written(tmp_path, a_job("wrong", an_element('hostColocation("a"), hostExlocation("a")'))))
    assert code == 1
    assert "processing element wrong-0: metadata.annotations[streams.ibm.com/placement]: hostColocation" in out


def test_a_full_node_and_one_without_memory_say_so(plan: Run, tmp_path: Path) -> None:
    labels = {"kubernetes.io/hostname": "bare", "only": "here"}
    bare = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "bare", "labels": labels},
        "status": {"allocatable": {"cpu": "4", "pods": "1"}},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"streams.ibm.com/job": "j"}},
            "spec": {"nodeSelector": {"only": "here"}, "containers": [{"name": "main"}]},
        }
        for name in ("one", "two")
    ]
    code, out, _ = plan("-o", "json", "-f", written(tmp_path, bare, *pods))
    found = json.loads(out)
    assert code == 1
    assert [subject["verdict"] for subject in found["subjects"]] == ["admitted", "refused"]
    [shown] = [node for node in found["nodes"] if node["name"] == "bare"]
    assert [(one["name"], one["free"]) for one in shown["resources"]] == [("cpu", "4"), ("pods", "0")]


def test_a_pool_of_two_objects_is_listed_once(plan: Run, tmp_path: Path) -> None:
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": {"streams.ibm.com/placement": "host(MyPool)"}},
            "spec": {"containers": [{"name": "main"}]},
        }
        for name in ("one", "two")
    ]
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, *pods))
    found = json.loads(out)
    assert [pool["name"] for pool in found["pools"]] == ["MyPool"]
    assert [subject["pools"] for subject in found["subjects"]] == [[0], [0]]


def test_more_pods_than_the_largest_cluster_has_are_not_planned(plan: Run, tmp_path: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "huge"},
        "spec": {
            "replicas": 2_000_000_000,
            "selector": {"matchLabels": {"app": "huge"}},
            "template": {"metadata": {"labels": {"app": "huge"}}, "spec": {"containers": [{"name": "main"}]}},
        },
    }
    code, out, _ = plan("-o", "json", "-f", written(tmp_path, deployment))
    [subject] = json.loads(out)["subjects"]
    assert (code, subject["verdict"], [one["node"] for one in subject["elements"]]) == (0, "undecided", [""])


def test_replicas_with_a_host_port_are_planned_on_a_node_each(plan: Run, tmp_path: Path) -> None:
    container = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "ported"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "ported"}},
            "template": {"metadata": {"labels": {"app": "ported"}}, "spec": {"containers": [container]}},
        },
    }
    code, out, _ = plan("-o", "json", "-f", written(tmp_path, deployment))
    [element] = json.loads(out)["subjects"][0]["elements"]
    assert code == 0
    assert (element["replicas"], [*element["placed"].values()]) == (3, [1, 1, 1])


def test_a_node_that_runs_as_many_pods_as_it_may_is_closed(plan: Run, tmp_path: Path) -> None:
    full = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "full", "labels": {"kubernetes.io/hostname": "full"}},
        "status": {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "0"}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one", "labels": {"streams.ibm.com/job": "j"}},
        "spec": {"containers": [{"name": "main"}]},
    }
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, full, pod))
    assert "has no place for one more pod" in [rule["reason"] for rule in json.loads(out)["rules"]]


def test_operators_are_planned_as_they_are_fused(plan: Run, tmp_path: Path) -> None:
    """A Job that fits in no way is refused in the words of its operators."""
    code, out, _ = plan("-f", "examples/job-operators.yaml")
    assert code == 0
    assert out.splitlines()[2:7] == [
        "  fused (manual) into 4 processing elements: 9 % of the traffic stays inside, 90 % leaves its node",
        "  between nodes: Source and Work[0], 45 % of the traffic (Source: partitionIsolation)",
        "  between nodes: Source and Work[1], 45 % of the traffic (Source: partitionIsolation)",
        "  between nodes: Format[0] and Sink, less than 1 % of the traffic (type: channelIsolation)",
        "  between nodes: Format[1] and Sink, less than 1 % of the traffic (type: channelIsolation)",
    ]
    assert re.search(r"^  apps-fused-1 +Work\[0\], Format\[0\] +foo +\d+ ", out, re.MULTILINE)
    text = Path("examples/job-operators.yaml").read_text(encoding="utf-8")
    bad = tmp_path / "job.yaml"
    bad.write_text(text.replace("partitionIsolation", 'host("absent")'), encoding="utf-8")
    code, out, _ = plan("-f", str(bad))
    assert code == 1
    assert 'operator Source: host("absent") cannot hold: 0 of 13 nodes can run this pod.' in out
    bad.write_text(text.replace("to: Log", "to: Nothing"), encoding="utf-8")
    code, out, _ = plan("-f", str(bad))
    assert code == 1
    assert 'spec.streams[3].to: the Job has no operator "Nothing"' in out


def operators_of(count: int, manual: int, rates: int = 1) -> dict[str, Any]:
    """A Job whose operators each have a stream to the next one."""
    names = [f"Op{at}" for at in range(count)]
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "line"},
        "spec": {
            "bundle": {"name": "a.sab"},
            "fusion": {"manual": manual},
            "operators": [{"name": name} for name in names],
            "streams": [{"from": one, "to": other, "rate": rates} for one, other in itertools.pairwise(names)],
        },
    }


def test_another_number_of_elements_than_asked_for_is_said(plan: Run, tmp_path: Path) -> None:
    code, out, _ = plan("-f", written(tmp_path, operators_of(2, 3)))
    assert code == 0
    assert "  warning: fusion.manual asks for 3 processing elements, and 2 are made: " in out
    assert "  fused (manual) into 2 processing elements, 3 asked for: 0 % of the traffic stays inside" in out


def test_streams_that_no_clause_cuts_have_none(plan: Run, tmp_path: Path) -> None:
    _, out, _ = plan("-o", "json", "-f", written(tmp_path, operators_of(4, 2)))
    (subject,) = json.loads(out)["subjects"]
    fusion = subject["fusion"]
    assert (fusion["scheme"], fusion["asked"], fusion["made"], fusion["inside"]) == ("manual", 2, 2, 66)
    (stream,) = fusion["streams"]
    assert (stream["operators"], stream["share"], stream["clause"]) == (["Op1", "Op2"], 33, "")
    assert [[one["name"] for one in element["operators"]] for element in subject["elements"]] == [
        ["Op0", "Op1"],
        ["Op2", "Op3"],
    ]
    assert subject["elements"][0]["operators"][1]["apart"] == [{"operator": "Op2", "clause": ""}]


def test_many_streams_between_elements_are_counted(plan: Run, tmp_path: Path) -> None:
    _, out, _ = plan("-f", written(tmp_path, operators_of(30, 30)))
    assert "  and 9 more streams; -o json has up to 100\n" in out


def test_a_job_without_traffic_leaves_no_node(plan: Run, tmp_path: Path) -> None:
    _, out, _ = plan("-f", written(tmp_path, operators_of(2, 2, rates=0)))
    assert "100 % of the traffic stays inside, 0 % leaves its node" in out


def of_another_operator(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "train", "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def a_replicated_job(name: str, **fields: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "i"}]}}
    return {"name": name, "template": {"spec": {"template": template}}, **fields}


def a_task(name: str, replicas: int) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "i"}]}}
    return {"name": name, "replicas": replicas, "template": template}


@pytest.mark.parametrize(
    ("application", "lines"),
    [
        (
            of_another_operator("trainer.kubeflow.org/v1alpha1", "TrainJob", runtimeRef={"name": "torch"}),
            [
                "admitted",
                "warning: spec.runtimeRef: ClusterTrainingRuntime torch cannot be read, so its pods were not judged",
            ],
        ),
        (
            of_another_operator(
                "jobset.x-k8s.io/v1alpha2", "JobSet", suspend=True, replicatedJobs=[a_replicated_job("work")]
            ),
            ["admitted", "warning: it is suspended and creates no pods yet, so none are planned"],
        ),
        (
            of_another_operator(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                replicatedJobs=[
                    a_replicated_job("load"),
                    a_replicated_job("work", dependsOn=[{"name": "load", "status": "Complete"}]),
                ],
            ),
            ["admitted, 1 pod on 1 node", "warning: not planned, since they may run at other times: job work"],
        ),
        (
            of_another_operator(
                "batch.volcano.sh/v1alpha1", "Job", minAvailable=1, tasks=[a_task("master", 1), a_task("worker", 2)]
            ),
            [
                "admitted",
                "warning: only the minimum number of pods is planned; the maximum is task master: 1, task worker: 2",
            ],
        ),
    ],
    ids=["unread runtime", "suspended", "one after the other", "at least one of three"],
)
def test_what_a_plan_does_not_have_of_an_application_is_said(
    plan: Run, tmp_path: Path, application: dict[str, Any], lines: list[str]
) -> None:
    code, out, _ = plan("-f", written(tmp_path, application))
    assert (code, [line.strip() for line in out.splitlines()[1:3]]) == (0, lines)


def test_a_refused_application_is_not_said_to_be_planned_in_part(plan: Run, tmp_path: Path) -> None:
    application = of_another_operator(
        "batch.volcano.sh/v1alpha1", "Job", minAvailable=2000, tasks=[a_task("worker", 3000)]
    )
    code, out, _ = plan("-f", written(tmp_path, application))
    assert (code, out.splitlines()[1].strip(), "warning" in out) == (1, "refused", False)
