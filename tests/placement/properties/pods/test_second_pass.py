"""A pod that has been through the webhook goes through again unchanged, as reinvocation makes it do."""

from hypothesis import assume, given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.pods.test_patches import patched
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.admission.patch import operations


@given(clusters(), requested())
@examples(150)
def test_a_second_pass_finds_nothing_to_add(cluster: Cluster, pod: Json) -> None:
    result = patched(pod, cluster)
    again = decision_core.decided(result, cluster)
    assert again.message == ""
    assert again.additions is not None
    assert operations(decision_core.read(result), again.additions) == []


@given(clusters(), requested())
@examples(100)
def test_a_second_pass_leaves_the_same_candidates(cluster: Cluster, pod: Json) -> None:
    inventory = decision_core.inventory(cluster)
    before = decision_core.candidates(pod, inventory)
    assume(before)
    assert decision_core.candidates(patched(pod, cluster), inventory) == before
