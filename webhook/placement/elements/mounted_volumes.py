"""The volumes of a processing element's pod: data, checkpoints, properties, and the authority of its bundle."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from webhook.placement.elements.environment import AUTHORITY_PATH, data_path
from webhook.placement.objects.jobs.job_spec import Bundle, DataVolumeClaim, ElementOptions

APP_PROPERTIES_PATH: Final = "/etc/streams/app-properties"
RESTRICTED_PROPERTIES_PATH: Final = "/etc/streams/restricted-properties"
"""Where the Secrets with properties are mounted."""


class Mounted(NamedTuple):
    """A volume of a pod, and where a container has it."""

    volume: dict[str, Any]
    mount: dict[str, Any]


def option_volumes(options: ElementOptions) -> Iterator[Mounted]:
    """The volumes of the options that are set."""
    if options.data_volume_claim is not None:
        yield _claimed("streams-data", options.data_volume_claim, data_path(options))
    files = options.checkpoint_repository and options.checkpoint_repository.file_system
    if files and files.volume_claim is not None:
        yield _claimed("streams-checkpoints", files.volume_claim, files.path)
    if options.app_properties_secret:
        yield _secret("streams-app-properties", options.app_properties_secret, APP_PROPERTIES_PATH)
    if options.restricted_properties_secret:
        yield _secret("streams-restricted-properties", options.restricted_properties_secret, RESTRICTED_PROPERTIES_PATH)


def bundle_volumes(bundle: Bundle | None) -> Iterator[Mounted]:
    """The volume with the certification authority by which the bundle is fetched."""
    authority = bundle.http.certification_authority if bundle and bundle.http else None
    if authority is not None:
        source = {"configMap": {"name": authority.config_map_name}}
        yield _mounted("streams-bundle-ca", source, {"mountPath": AUTHORITY_PATH, "readOnly": True})


def _claimed(name: str, claim: DataVolumeClaim, path: str) -> Mounted:
    mount = {"mountPath": path, **({"subPath": claim.sub_path} if claim.sub_path else {})}
    return _mounted(name, {"persistentVolumeClaim": {"claimName": claim.name}}, mount)


def _secret(name: str, secret: str, path: str) -> Mounted:
    return _mounted(name, {"secret": {"secretName": secret}}, {"mountPath": path, "readOnly": True})


def _mounted(name: str, source: dict[str, Any], mount: dict[str, Any]) -> Mounted:
    return Mounted({"name": name, **source}, {"name": name, **mount})
