"""What comes out of scenarios whose pods a model of the scheduler binds: hundreds a second, without a control plane."""

from tests.fidelity.comparison import FidelityResult, compared
from tests.fidelity.judges import Judge, product
from tests.fidelity.model_batch import ModelBatch
from tests.fidelity.play import cases, play
from tests.fidelity.preparation import Controller, unsteered
from tests.fidelity.scenario import FidelityScenario

_PLAIN = Controller(unsteered, planned_hosts=False)


def modelled(scenario: FidelityScenario, judge: Judge = product, controller: Controller = _PLAIN) -> FidelityResult:
    """What comes out of the scenario."""
    [case] = cases([scenario], judge, controller)
    [played] = play([case], ModelBatch({case.mark: case.preparation.cluster}))
    return compared(case, played)
