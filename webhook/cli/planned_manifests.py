"""The plan of the manifests that a command is given, as a document and as a page."""

from webhook import app
from webhook.cli import warn
from webhook.cli.arguments.manifests import Manifests, note_unjudged
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.planpage.page import render
from webhook.cli.terminal.progress import progress
from webhook.placement.text.defaults import PLAN_SECONDS
from webhook.placement.text.problem import counted
from webhook.placementreview.plans.document import PlanDocument
from webhook.placementreview.plans.fuse import named
from webhook.placementreview.plans.plan import planned
from webhook.placementreview.plans.plan_document import document_of
from webhook.settings import Settings


def write_page(given: Manifests, settings: Settings, *, title: str, seconds: float = PLAN_SECONDS) -> int:
    """Print the page of the manifests; returns ``Exit.REFUSED`` if something of it would be refused."""
    document = planned_document(given, settings, seconds, title)
    print(render(document), end="")
    return exit_of(document)


def exit_of(document: PlanDocument) -> int:
    """The exit code of a command that shows the plan: ``Exit.REFUSED`` if something of it would be refused."""
    return Exit.REFUSED if any(subject.verdict == "refused" for subject in document.subjects) else Exit.OK


def planned_document(given: Manifests, settings: Settings, seconds: float, title: str) -> PlanDocument:
    """The plan of the manifests as a document; raises :class:`WrongUse` for a manifest that cannot be used."""
    given = [(file, named(document)) for file, document in given]
    with progress() as step:
        try:
            world = app.explain.explaining(settings, given, warn, step=step)
            plan = planned(given, world, seconds, step)
        except ValueError as error:
            raise WrongUse(str(error)) from error
    if plan.objects:
        note_unjudged(given, world, "plan")
    else:
        warn("nothing to plan: no pod, workload or Job in the manifests")
    nodes = counted(len(world.inventory.nodes.nodes), "node")
    source = f"snapshot {settings.snapshot}" if settings.snapshot else "the cluster as it is now"
    return document_of(plan, title, f"{nodes}, {source}")
