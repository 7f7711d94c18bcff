"""What is wrong with the options of processing elements, and the simple rules of which most of these are made.

``docs/jobs.md`` describes the options.
"""

import operator
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from webhook.placement.inventory.job_resources import problems_of_resources
from webhook.placement.inventory.job_spec import CheckpointRepository, DataVolumeClaim, ElementOptions
from webhook.placement.kube.addresses import is_node_name
from webhook.placement.text.problem import Problem, quote

PULL_POLICIES: Final = ("Always", "IfNotPresent")
BUILD_TYPES: Final = ("debug", "release")
SECURITY_TYPES: Final = ("none", "TLSv1.2")
TRACE_LEVELS: Final = ("OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
"""Values of options, as the Streams instance operator and SPL have them."""


_RULED: Final = operator.attrgetter(
    *(field for field in ElementOptions.__struct_fields__ if field != "resources")
)  # fmt: skip
_SILENT: Final = _RULED(ElementOptions())
"""The options of an element that states none but its resources, as most of a thousand do."""


def problems_of_options(options: ElementOptions, path: str) -> Iterator[Problem]:
    """Problems of the options of processing elements at that path."""
    if _RULED(options) != _SILENT:
        yield from _problems_of_stated(options, path)
    if options.resources is not None:
        yield from problems_of_resources(options.resources, f"{path}.resources")


def _problems_of_stated(options: ElementOptions, path: str) -> Iterator[Problem]:
    yield from one_word(f"{path}.buildType", options.build_type, BUILD_TYPES)
    yield from one_word(f"{path}.imagePullPolicy", options.image_pull_policy, PULL_POLICIES)
    yield from one_word(f"{path}.transportSecurityType", options.transport_security_type, SECURITY_TYPES)
    yield from one_word(f"{path}.appTraceLevel", options.app_trace_level, TRACE_LEVELS)
    yield from one_word(f"{path}.runtimeTraceLevel", options.runtime_trace_level, TRACE_LEVELS)
    yield from at_least(f"{path}.initialProbeDelayInSeconds", options.initial_probe_delay_in_seconds, 0)
    yield from at_least(f"{path}.probeFailureThreshold", options.probe_failure_threshold, 1)
    yield from at_least(f"{path}.probeIntervalInSeconds", options.probe_interval_in_seconds, 1)
    yield from object_name(f"{path}.imagePullSecret", options.image_pull_secret)
    yield from object_name(f"{path}.appPropertiesSecret", options.app_properties_secret)
    yield from object_name(f"{path}.restrictedPropertiesSecret", options.restricted_properties_secret)
    if options.run_with_valgrind:
        against = {
            "allowPtrace: false": options.allow_ptrace is False,
            "buildType: release": options.build_type == "release",
        }
        for what in (what for what, there in against.items() if there):
            yield Problem(f"{path}.runWithValgrind", f"implies allowPtrace: true and buildType: debug; {what} must go")
    if options.data_path is not None and not options.data_path.startswith("/"):
        yield Problem(f"{path}.dataPath", f"{quote(options.data_path)} is no absolute path")
    if options.data_volume_claim is not None:
        yield from _claim(options.data_volume_claim, f"{path}.dataVolumeClaim")
    if options.checkpoint_repository is not None:
        yield from _checkpoints(options.checkpoint_repository, f"{path}.checkpointRepository")


def _claim(claim: DataVolumeClaim, path: str) -> Iterator[Problem]:
    yield from object_name(f"{path}.name", claim.name, needed="the name of a PersistentVolumeClaim")
    if claim.sub_path and (claim.sub_path.startswith("/") or ".." in claim.sub_path.split("/")):
        yield Problem(f"{path}.subPath", f"{quote(claim.sub_path)} is not a path within the claim")


def _checkpoints(repository: CheckpointRepository, path: str) -> Iterator[Problem]:
    files, redis = repository.file_system, repository.redis
    yield from one_of(path, {"fileSystem": files is not None, "redis": redis is not None}, "store of checkpoints")
    if files is not None:
        if not files.path.startswith("/"):
            yield Problem(f"{path}.fileSystem.path", f"{quote(files.path)} is no absolute path")
        if files.volume_claim is None:
            yield Problem(f"{path}.fileSystem.volumeClaim", "missing: checkpoints must outlive the pod")
        else:
            yield from _claim(files.volume_claim, f"{path}.fileSystem.volumeClaim")
    if redis is not None:
        yield from object_name(f"{path}.redis.service", redis.service or "", needed="the name of a Service")
        yield from at_least(f"{path}.redis.replicaCount", redis.replica_count, 1)
        yield from at_least(f"{path}.redis.shardCount", redis.shard_count, 1)


def one_of(path: str, stated: Mapping[str, bool | None], what: str) -> Iterator[Problem]:
    """A problem if more than one of the alternatives is stated."""
    names = [name for name, there in stated.items() if there]
    if len(names) > 1:
        yield Problem(path, f"{' and '.join(names)} exclude each other: state one {what}")


def one_word(path: str, word: str | None, words: Collection[str]) -> Iterator[Problem]:
    """A problem if the word is none of those that there are."""
    if word is not None and word not in words:
        yield Problem(path, f"{quote(word)} is not one of {', '.join(words)}")


def at_least(path: str, number: int | None, least: int) -> Iterator[Problem]:
    """A problem if the number is too small."""
    if number is not None and number < least:
        yield Problem(path, f"{number} is less than {least}")


def object_name(path: str, name: str | None, *, needed: str = "") -> Iterator[Problem]:
    """A problem if it is no name of an object; a missing name is a problem only if it is ``needed``."""
    if not name:
        if needed:
            yield Problem(path, f"missing: {needed}")
    elif not is_node_name(name):
        yield Problem(path, f"{quote(name)} is no name of an object")
