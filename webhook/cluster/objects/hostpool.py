"""What one HostPool object proves wrong about itself: its spec, and a status that anyone may have edited."""

from collections.abc import Iterator

from webhook.cluster.objects import wire
from webhook.placement.inventory.objects import Phase
from webhook.placement.inventory.pool_spec import HostPoolSpec, problems_of_spec, repeated
from webhook.placement.text.problem import Problem, quote

PHASES = tuple(phase.value for phase in Phase)


def faults(spec: HostPoolSpec, status: wire.HostPoolStatus) -> Iterator[str]:
    """Every rule that the object breaks: a path, then the reason."""
    for problem in (*problems_of_spec(spec), *_given(spec, status)):
        yield f"{problem.field}: {problem.message}"


def _given(spec: HostPoolSpec, status: wire.HostPoolStatus) -> Iterator[Problem]:
    """``status``: anyone may have edited it, and what it says of hosts is believed."""
    if status.phase and status.phase not in PHASES:
        yield Problem("status.phase", f"{quote(status.phase)} is not one of {', '.join(PHASES)}")
    hosts = status.hosts or ()
    size = spec.size if spec.hosts is None else len(spec.hosts)
    if size is None:
        if hosts:
            yield Problem("status.hosts", "a pool without a size has no hosts of its own")
        return
    for place, host in enumerate(hosts):
        if not 0 <= host.index < size:
            yield Problem(f"status.hosts[{place}].index", f"{host.index} is not between 0 and {size - 1}")
    yield from repeated("status.hosts", (host.name for host in hosts), ".name")
    yield from repeated("status.hosts", (host.index for host in hosts), ".index")
