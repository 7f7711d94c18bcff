"""HPAIntents, and the namespaces in which they hold unasked, as placement knows them."""

from webhook.cluster.objects import wire
from webhook.cluster.objects.translate import Notes, full_name
from webhook.placement.inventory.intent import Intent, read_intent
from webhook.placement.text import keys


def intent(source: wire.HPAIntentObject) -> tuple[Intent, Notes]:
    """An HPAIntent; one with something wrong in it is there to refuse its pods, and the notes say what it is."""
    namespace, name = full_name(source.metadata).split("/", 1)
    where = f"HPAIntent {name} "
    found = read_intent(namespace, name, {} if source.spec is None else source.spec, where)
    return found, [f"{problem.field.removeprefix(where)}: {problem.message}" for problem in found.problems]


def enabled(source: wire.NamespaceObject) -> tuple[str, bool]:
    """The name of a namespace, and whether its pods get what intents say of their workloads without asking."""
    name = full_name(source.metadata).rpartition("/")[2]
    labels = (source.metadata and source.metadata.labels) or {}
    return name, labels.get(keys.INJECT) == keys.ENABLED
