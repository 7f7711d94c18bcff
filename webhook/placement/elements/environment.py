"""The environment of a processing element: its variables, each from an option of the element or of its Job.

The names begin with ``STREAMS_``; ``docs/jobs.md`` lists them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from webhook.placement.objects.jobs.job_spec import (
    CERTIFICATE_DAYS,
    Bundle,
    CheckpointRepository,
    ElementOptions,
    JobSpec,
    RedisRepository,
)

Variable = dict[str, Any]
"""An entry of ``env`` of a container."""

TOKEN_KEY: Final = "token"  # noqa: S105 -- the key of a Secret, and no secret
"""The key of the Secret of ``bundle.github.secret`` under which it has the token."""

AUTHORITY_PATH: Final = "/etc/streams/bundle-ca"
"""Where the ConfigMap with the certification authority of the bundle is mounted."""

AUTHORITY_FILE: Final = "ca.crt"
"""The certificate in that ConfigMap, unless the bundle names another path."""

DATA_PATH: Final = "/data"
"""Where the data volume is mounted, unless ``dataPath`` says so."""


VALUES_LIMIT: Final = 128 * 1024 - len("STREAMS_SUBMISSION_TIME_VALUES=") - 1
"""Bytes of the submission-time values as JSON: no program can be started with a longer variable (Linux,
``MAX_ARG_STRLEN``)."""


def values_text(values: Mapping[str, str]) -> str:
    """The submission-time values as the runtime gets them."""
    return _text(values)


def job_variables(job: JobSpec) -> Iterator[Variable]:
    """Variables of the Job: its bundle, submission-time values, threading model and certificates."""
    if job.bundle is not None:
        yield from _bundle(job.bundle)
    if job.submission_time_values:
        yield _variable("SUBMISSION_TIME_VALUES", values_text(job.submission_time_values))
    if job.threading_model is not None:
        yield _variable("THREADING_MODEL", _text(job.threading_model))
    days = job.transport_certificate_validity_in_days
    yield _variable("TRANSPORT_CERTIFICATE_VALIDITY_DAYS", str(CERTIFICATE_DAYS if days is None else days))


def launch_variables(job: str, element: str, launch: int) -> Iterator[Variable]:
    """Variables that tell a runtime who it is."""
    yield _variable("JOB_NAME", job)
    yield _variable("PE_NAME", element)
    yield _variable("LAUNCH_COUNT", str(launch))


def option_variables(options: ElementOptions) -> Iterator[Variable]:
    """Variables of the options that are set."""
    values = {
        "SAB_NAME": options.sab_name,
        "BUILD_TYPE": options.build_type,
        "APP_TRACE_LEVEL": options.app_trace_level,
        "RUNTIME_TRACE_LEVEL": options.runtime_trace_level,
        "TRANSPORT_SECURITY_TYPE": options.transport_security_type,
        "RUN_WITH_VALGRIND": None if options.run_with_valgrind is None else str(options.run_with_valgrind).lower(),
        "DATA_PATH": data_path(options) if options.data_path or options.data_volume_claim else None,
    }
    yield from _variables(values)
    if options.checkpoint_repository is not None:
        yield from _checkpoints(options.checkpoint_repository)


def data_path(options: ElementOptions) -> str:
    """The directory of the element's data."""
    return options.data_path or DATA_PATH


def _bundle(bundle: Bundle) -> Iterator[Variable]:
    http, file, github = bundle.http, bundle.file, bundle.github
    values: dict[str, str | None] = {
        "BUNDLE_NAME": bundle.name or None,
        "BUNDLE_PULL_POLICY": bundle.pull_policy or "IfNotPresent",
        "BUNDLE_URL": http.url if http else github.url if github else None,
        "BUNDLE_PATH": file.path if file else None,
    }
    yield from _variables(values)
    if github and github.secret:
        source = {"secretKeyRef": {"name": github.secret, "key": TOKEN_KEY}}
        yield {"name": "STREAMS_GITHUB_TOKEN", "valueFrom": source}
    if http and http.certification_authority:
        file_name = http.certification_authority.sub_path or AUTHORITY_FILE
        yield _variable("BUNDLE_CA", f"{AUTHORITY_PATH}/{file_name}")


def _checkpoints(repository: CheckpointRepository) -> Iterator[Variable]:
    if repository.file_system is not None:
        yield _variable("CHECKPOINT_TYPE", "fileSystem")
        yield _variable("CHECKPOINT_PATH", repository.file_system.path)
    if repository.redis is not None:
        yield _variable("CHECKPOINT_TYPE", "redis")
        yield from _redis(repository.redis)


def _redis(redis: RedisRepository) -> Iterator[Variable]:
    values = {
        "SERVICE": redis.service,
        "REPLICA_COUNT": None if redis.replica_count is None else str(redis.replica_count),
        "SHARD_COUNT": None if redis.shard_count is None else str(redis.shard_count),
        "SHUFFLE": None if redis.shuffle is None else str(redis.shuffle).lower(),
        "RESTRICTED_PROPERTY": redis.restricted_property,
    }
    yield from _variables({f"CHECKPOINT_REDIS_{name}": value for name, value in values.items()})


def _variables(values: Mapping[str, str | None]) -> Iterator[Variable]:
    return (_variable(name, value) for name, value in values.items() if value is not None)


def _variable(name: str, value: str) -> Variable:
    return {"name": f"STREAMS_{name}", "value": value}


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
