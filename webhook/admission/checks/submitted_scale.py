"""The subresource ``scale`` of an object, as ``kubectl scale`` or an autoscaler changes it."""

from msgspec import Struct


class _Replicas(Struct, frozen=True, gc=False):
    replicas: int = 0


class SubmittedScale(Struct, frozen=True, gc=False):
    """``autoscaling/v1 Scale``: of a ParallelRegion ``replicas`` is its width."""

    spec: _Replicas = _Replicas()
