"""Problems of the options of processing elements, and the simple rules of which most of them are made.

``docs/jobs.md`` describes the options.
"""

import operator
from collections.abc import Iterator, Mapping
from typing import Final

from webhook.placement.field_rules.rules import broken
from webhook.placement.objects.jobs.job_resources import problems_of_resources
from webhook.placement.objects.jobs.job_spec import CheckpointRepository, ElementOptions
from webhook.placement.text.problem import Problem

_FIELDS: Final = tuple(field for field in ElementOptions.__struct_fields__ if field != "resources")
_RULED: Final = operator.attrgetter(*_FIELDS)
_SILENT: Final = _RULED(ElementOptions())
"""The options of an element that states none but its resources, as most of a thousand do."""


def problems_of_options(options: ElementOptions, path: str) -> Iterator[Problem]:
    """Problems of the options of processing elements at that path."""
    if _RULED(options) != _SILENT:
        yield from _problems_of_stated(options, path)
    if options.resources is not None:
        yield from problems_of_resources(options.resources, f"{path}.resources")


def _problems_of_stated(options: ElementOptions, path: str) -> Iterator[Problem]:
    yield from broken(options, path, *_FIELDS)
    if options.run_with_valgrind:
        against = {
            "allowPtrace: false": options.allow_ptrace is False,
            "buildType: release": options.build_type == "release",
        }
        for what in (what for what, there in against.items() if there):
            yield Problem(f"{path}.runWithValgrind", f"implies allowPtrace: true and buildType: debug; remove {what}")
    if options.checkpoint_repository is not None:
        yield from _checkpoints(options.checkpoint_repository, f"{path}.checkpointRepository")


def _checkpoints(repository: CheckpointRepository, path: str) -> Iterator[Problem]:
    files, redis = repository.file_system, repository.redis
    stated = {"fileSystem": files is not None, "redis": redis is not None}
    yield from one_of(path, stated, "store of checkpoints")
    if not any(stated.values()):
        yield Problem(path, "missing: fileSystem or redis")
    if files is not None and files.volume_claim is None:
        yield Problem(f"{path}.fileSystem.volumeClaim", "missing: checkpoints must outlive the pod")
    if redis is not None and redis.service is None:
        yield Problem(f"{path}.redis.service", "missing: the name of a Service")


def one_of(path: str, stated: Mapping[str, bool | None], what: str) -> Iterator[Problem]:
    """A problem if more than one of the alternatives is stated."""
    names = [name for name, there in stated.items() if there]
    if len(names) > 1:
        yield Problem(path, f"{' and '.join(names)} exclude each other: state one {what}")
