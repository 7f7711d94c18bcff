"""``verdict_on``: what the product says of a random application, by the functions that its webhook calls."""

from tests.builders import NAMESPACE, cluster, node
from tests.placement.kinds.random_applications import Case, Machine, millicores
from tests.placement.planning.at_once import AtOnce
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import judge_application, read_pods
from webhook.placement.kinds.application import expanded
from webhook.placement.objects.node import Node
from webhook.placement.planning.search.solver import finished


def verdict_on(case: Case) -> JobVerdict:
    """The verdict on the object of the case."""
    application = expanded(application_kinds()[case.kind], case.document, case.runtime)
    assert not application.not_judged
    pods = read_pods(application)
    assert isinstance(pods, list)
    return finished(judge_application(pods, NAMESPACE, cluster(map(node_of, case.machines)), Policy(), AtOnce()))


def node_of(machine: Machine) -> Node:
    """The node that the machine is."""
    labels = {"disk": machine.disk} if machine.disk else {}
    return node(machine.name, labels=labels, cpu=millicores(machine.cpu), memory=machine.memory)
