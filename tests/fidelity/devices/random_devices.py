"""Random scenarios of devices, which the API server takes as they are: all that its gates let through by default."""

import copy
import random
import uuid
from collections.abc import Iterator
from typing import Any, Final

from tests.fidelity.devices.device_scenario import VERSION, DeviceScenario
from webhook.placement.text import keys

Object = dict[str, Any]

KINDS: Final = ("gpu", "nic")
"""Kinds of devices: each has a driver and a class."""

STREAMS: Final = "streams.ibm.com/v1"
_BROKEN: Final = "example.com/broken"
_ROOT: Final = "resource.kubernetes.io/pcieRoot"


def device_scenario(seed: int, number: int) -> DeviceScenario:
    """The scenario of that number."""
    return _Dice(f"devices-{seed}-{number}", f"d{number}").scenario(number)


def group_scenario(seed: int, number: int, mark: str = "") -> DeviceScenario:
    """The scenario of that number of Jobs and HostPools, in names with that mark."""
    return _Dice(f"groups-{seed}-{number}", mark or f"g{number}").group(number)


class _Dice:
    """Throws one scenario."""

    def __init__(self, seed: str, mark: str) -> None:
        self._dice = random.Random(seed)  # noqa: S311 -- a scenario, no secret
        self._mark = mark
        self._made: list[Object] = []
        self._partitioned = True
        self._many = False
        """Whether nodes have more devices, and pods want few of them, so that these lack devices together."""
        self._effect = self._dice.choice(("NoSchedule", "NoExecute"))
        """That of all taints. Kubernetes binds a pod whose toleration names no effect, and evicts it by NoExecute."""

    def scenario(self, number: int) -> DeviceScenario:
        """All of it."""
        nodes = tuple(self._node(at) for at in range(self._dice.choice((1, 1, 2, 3))))
        self._made += [self._class(kind) for kind in KINDS]
        slices = [part for kind in KINDS for part in self._slices(kind, nodes)]
        self._made += slices
        if self._chance(1 / 3):
            self._made += self._holders(slices)
        pod = self._pod(nodes)
        subject = pod if self._chance(2 / 3) else self._deployment(pod)
        return DeviceScenario(number, self._mark, nodes, tuple(self._made), subject)

    def group(self, number: int) -> DeviceScenario:
        """A Job of two or three elements, or a HostPool, few enough for all ways to be played."""
        nodes = tuple(self._node(at) for at in range(self._dice.choice((1, 2, 2, 2, 3))))
        self._made += [self._class(kind) for kind in KINDS]
        pool = self._chance(1 / 4)
        self._partitioned = self._many = not pool
        self._made += [part for kind in KINDS for part in self._slices(kind, nodes)]
        subject = (
            self._host_pool(len(nodes)) if pool else self._job(2 if len(nodes) > 2 else self._dice.choice((2, 3, 3, 3)))
        )
        return DeviceScenario(number, self._mark, nodes, tuple(self._made), subject)

    def _host_pool(self, most: int) -> Object:
        """A HostPool by devices, each of which a pod can have as well: not by partitions, which count each."""
        entries = [self._entry() for _ in range(self._dice.choice((1, 1, 2)))]
        spec = {"name": "P", "size": self._dice.randint(1, most), "devices": entries}
        named = {"name": f"{self._mark}-p", "namespace": self._mark, "uid": f"uid-of-{self._mark}"}
        return {"apiVersion": STREAMS, "kind": "HostPool", "metadata": named, "spec": spec}

    def _entry(self) -> Object:
        kind = self._dice.choice(KINDS)
        entry: Object = {"class": self._class_name(kind), "count": self._dice.choice((1, 1, 2, 3))}
        if self._chance(1 / 2):
            entry["selector"] = self._selector(kind)
        if self._chance(1 / 2):
            entry["sameAttribute"] = _ROOT
        return entry

    def _job(self, count: int) -> Object:
        """A Job whose elements want devices, some of them the same."""
        elements: list[Object] = []
        for at in range(count):
            if at and self._chance(1 / 3):
                template = copy.deepcopy(self._dice.choice(elements)["template"])
            else:
                metadata: Object = {}
                spec: Object = {"containers": [{"name": "main", "image": "example.invalid/main"}]}
                self._want(metadata, spec, at)
                template = {"metadata": metadata, "spec": spec}
            elements.append({"name": f"{self._mark}-e{at}", "template": template})
        spec = {"bundle": {"name": "app.sab"}, "processingElements": elements}
        named = {"name": f"{self._mark}-j", "namespace": self._mark}
        return {"apiVersion": STREAMS, "kind": "Job", "metadata": named, "spec": spec}

    def _chance(self, part: float) -> bool:
        return self._dice.random() < part

    def _node(self, at: int) -> Object:
        name = f"{self._mark}-n{at}"
        labels = {"case": self._mark, keys.HOSTNAME: name, "zone": f"{self._mark}-{self._dice.choice('ab')}"}
        address = [{"type": "InternalIP", "address": f"10.1.0.{at + 1}"}, {"type": "Hostname", "address": name}]
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "dice say so"}
        room = {"cpu": "8", "memory": "8Gi", "pods": "20"}
        status = {"addresses": address, "allocatable": room, "capacity": room, "conditions": [ready]}
        metadata = {"name": name, "uid": f"uid-of-{name}", "labels": labels}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": []}, "status": status}

    # Devices

    def _driver(self, kind: str) -> str:
        return f"{kind}.{self._mark}.example.com"

    def _class(self, kind: str) -> Object:
        """The class of all devices of the kind; the first has a resource that containers may request."""
        spec: Object = {"selectors": [_cel(f'device.driver == "{self._driver(kind)}"')]}
        if kind == KINDS[0]:
            spec["extendedResourceName"] = f"{self._mark}.example.com/{kind}"
        return self._thing("DeviceClass", self._class_name(kind), spec)

    def _class_name(self, kind: str) -> str:
        return f"{self._mark}-{kind}"

    def _thing(self, kind: str, name: str, spec: Object, **more: Any) -> Object:
        metadata = {"name": name}
        if kind in {"ResourceClaim", "ResourceClaimTemplate"}:
            metadata["namespace"] = self._mark
        return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec, **more}

    def _slices(self, kind: str, nodes: tuple[Object, ...]) -> Iterator[Object]:
        """Pools of nodes, and sometimes one that several nodes share."""
        for node in nodes:
            if self._many or self._chance(3 / 4):
                name = node["metadata"]["name"]
                yield from self._pool(kind, name, {"nodeName": name}, nodes)
        if self._chance(1 / 4):
            terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [f"{self._mark}-a"]}]}]
            reach: Object = self._dice.choice(
                (
                    {"nodeSelector": {"nodeSelectorTerms": terms}},
                    {"nodeSelector": {"nodeSelectorTerms": [_on(nodes[-1]["metadata"]["name"])]}},
                    {"perDeviceNodeSelection": True},
                    {"allNodes": True},
                )
            )
            yield from self._pool(kind, f"{self._mark}-shared", reach, nodes)

    def _pool(self, kind: str, name: str, reach: Object, nodes: tuple[Object, ...]) -> Iterator[Object]:
        parts = self._dice.choice((1, 1, 1, 2))
        counted = kind == KINDS[0] and self._chance(1 / 4) and self._partitioned
        # Another incomplete pool would be in the way of pods of other scenarios that want all devices.
        expected = parts + counted + ("nodeName" in reach and not counted and self._chance(1 / 60))
        number = 0
        for part in range(parts):
            devices = []
            for _ in range(self._dice.choice((2, 3, 3) if self._many else (1, 1, 2, 3))):
                device = self._device(kind, f"{kind}{number}", counted=counted)
                if "perDeviceNodeSelection" in reach:
                    place = self._dice.choice(
                        ({"nodeName": self._dice.choice(nodes)["metadata"]["name"]}, {"allNodes": True})
                    )
                    device |= place
                devices.append(device)
                number += 1
            spec = {**reach, "devices": devices, **self._of_pool(kind, name, expected)}
            yield self._thing("ResourceSlice", f"{name}-{kind}-{part}", spec)
        if counted:
            sets = [{"name": "memory", "counters": {"parts": {"value": str(self._dice.choice((2, 3, 4)))}}}]
            spec = {**reach, "sharedCounters": sets, **self._of_pool(kind, name, expected)}
            yield self._thing("ResourceSlice", f"{name}-{kind}-counters", spec)

    def _of_pool(self, kind: str, name: str, expected: int) -> Object:
        return {"driver": self._driver(kind), "pool": {"name": name, "generation": 1, "resourceSliceCount": expected}}

    def _device(self, kind: str, name: str, *, counted: bool) -> Object:
        attributes: Object = {"model": {"string": self._dice.choice(("A", "A", "H"))}}
        if self._chance(4 / 5):
            attributes["numa"] = {"int": self._dice.choice((0, 1))}
        if self._chance(3 / 4):
            attributes[_ROOT] = {"string": self._dice.choice(("pci0000:00", "pci0000:01"))}
        if self._chance(1 / 2):
            attributes["firmware"] = {"version": self._dice.choice(("1.2.3", "2.0.0-rc.1", "2.1.0"))}
        memory: Object = {"value": f"{self._dice.choice((40, 80))}Gi"}
        device: Object = {"name": name, "attributes": attributes}
        if kind == KINDS[1] and self._chance(1 / 4):
            device["allowMultipleAllocations"] = True
            if self._chance(2 / 3):
                steps = {"min": "10Gi", "step": "10Gi", "max": "40Gi"}
                memory["requestPolicy"] = {"default": "20Gi", "validRange": steps}
        if self._chance(79 / 80):
            device["capacity"] = {"memory": memory}
        if counted and self._chance(4 / 5):
            taken = {"parts": {"value": str(self._dice.choice((1, 1, 2)))}}
            device["consumesCounters"] = [{"counterSet": "memory", "counters": taken}]
        if self._chance(1 / 8):
            device["taints"] = [{"key": _BROKEN, "value": "hot", "effect": self._effect}]
        return device

    def _holders(self, slices: list[Object]) -> Iterator[Object]:
        """Claims that have some of the devices."""
        at = 0
        for part in slices:
            spec = part["spec"]
            for device in spec.get("devices", ()):
                if "taints" in device or not self._chance(1 / 3):  # pods of a claim that has it would be evicted
                    continue
                kind = spec["driver"].partition(".")[0]
                result = {
                    "request": "r",
                    "driver": spec["driver"],
                    "pool": spec["pool"]["name"],
                    "device": device["name"],
                }
                if device.get("allowMultipleAllocations"):
                    result |= {"shareID": str(uuid.UUID(int=self._dice.getrandbits(128), version=4))}
                    if "capacity" in device:
                        whole = device["capacity"]["memory"]
                        result["consumedCapacity"] = {"memory": "20Gi" if "requestPolicy" in whole else whole["value"]}
                allocation: Object = {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"}
                if "nodeName" in spec:
                    allocation["nodeSelector"] = {"nodeSelectorTerms": [_on(spec["nodeName"])]}
                exactly = {"deviceClassName": self._class_name(kind), "allocationMode": "ExactCount", "count": 1}
                claim = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
                yield self._thing("ResourceClaim", f"{self._mark}-held{at}", claim, status={"allocation": allocation})
                at += 1

    # What wants them

    def _pod(self, nodes: tuple[Object, ...]) -> Object:
        selected = {"case": self._mark}
        if self._chance(1 / 3):
            selected[keys.HOSTNAME] = self._dice.choice(nodes)["metadata"]["name"]
        metadata: Object = {"name": f"{self._mark}-p", "namespace": self._mark, "uid": f"uid-of-{self._mark}-p"}
        metadata |= {"labels": {keys.JOB: self._mark}}
        container: Object = {"name": "main", "image": "example.invalid/main"}
        spec: Object = {"nodeSelector": selected, "containers": [container]}
        for at in range(self._dice.choice((1, 1, 1, 2))):
            self._want(metadata, spec, at)
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _want(self, metadata: Object, spec: Object, at: int) -> None:
        """Add a need: a template, a claim by name, described devices, or a resource that the class maps."""
        way = self._dice.random()
        if way < 1 / 8:
            count = str(self._dice.choice((1, 1, 2, 3)))
            both = {f"{self._mark}.example.com/gpu": count}
            spec["containers"][0]["resources"] = {"requests": both, "limits": both}
        elif way < 1 / 4:
            needs = metadata.setdefault("annotations", {}).get(keys.HARDWARE, "")
            metadata["annotations"][keys.HARDWARE] = f"{needs}- {self._described()}\n"
        else:
            held = [one["metadata"]["name"] for one in self._made if "status" in one]
            if way < 3 / 8 and held:
                claim: Object = {"resourceClaimName": self._dice.choice(held)}
            elif way < 1 / 2:
                name = f"{self._mark}-c{at}"
                self._made.append(self._thing("ResourceClaim", name, self._claim()))
                claim = {"resourceClaimName": name}
            else:
                name = f"{self._mark}-t{at}"
                self._made.append(self._thing("ResourceClaimTemplate", name, {"spec": self._claim()}))
                claim = {"resourceClaimTemplateName": name}
            spec.setdefault("resourceClaims", []).append({"name": f"need{at}", **claim})

    def _described(self) -> str:
        kind = self._dice.choice(KINDS)
        words = [f"class: {self._class_name(kind)}", f"count: {self._dice.choice((1, 1, 2, 3))}"]
        if self._chance(1 / 2):
            words.append(f"selector: '{self._selector(kind)}'")
        if self._chance(1 / 3):
            words.append(f"sameAttribute: {_ROOT}")
        return f"{{device: {{{', '.join(words)}}}}}"

    def _claim(self) -> Object:
        requests = [self._request(at) for at in range(self._dice.choice((1, 1, 1, 2)))]
        devices: Object = {"requests": requests}
        constraints = [self._constraint(requests) for _ in range(self._dice.choice((0, 0, 0, 1, 2)))]
        if constraints:
            devices["constraints"] = constraints
        return {"devices": devices}

    def _request(self, at: int) -> Object:
        if self._chance(1 / 5):
            choices = [{"name": f"s{number}", **self._choice()} for number in range(2)]
            return {"name": f"r{at}", "firstAvailable": choices}
        exactly = self._choice()
        if self._chance(1 / 10):
            exactly["adminAccess"] = True
            exactly.pop("capacity", None)
        return {"name": f"r{at}", "exactly": exactly}

    def _choice(self) -> Object:
        kind = self._dice.choice(KINDS)
        found: Object = {"deviceClassName": self._class_name(kind), "allocationMode": "ExactCount"}
        if self._chance(1 / 8):
            found["allocationMode"] = "All"
        else:
            found["count"] = self._dice.choice((1, 1, 1, 2, 3))
        number = self._dice.choice((0, 0, 0, 1) if self._many else (0, 0, 1, 1, 2))
        if selectors := [self._selector(kind) for _ in range(number)]:
            found["selectors"] = list(map(_cel, selectors))
        if self._chance(1 / 5):
            tolerations = (
                {"key": _BROKEN, "operator": "Exists"},
                {"operator": "Exists"},
                {"key": _BROKEN, "operator": "Equal", "value": "hot"},
                {"key": "other", "operator": "Exists"},
            )
            found["tolerations"] = [{**self._dice.choice(tolerations), "effect": self._effect}]
        if self._chance(1 / 6):
            found["capacity"] = {"requests": {"memory": f"{self._dice.choice((15, 30, 50))}Gi"}}
        return found

    def _selector(self, kind: str) -> str:
        driver = self._driver(kind)
        own = f'device.attributes["{driver}"]'
        return self._dice.choice(
            (
                f'{own}.model == "A"',
                f'"numa" in {own} && {own}.numa == 1',
                f"cel.bind(own, {own}, has(own.numa) && own.numa == 0)",
                f'device.capacity["{driver}"].memory.compareTo(quantity("50Gi")) >= 0',
                f'{own}.?firmware.hasValue() && {own}.firmware.isLessThan(semver("2.0.0"))',
                f'!("firmware" in {own})',
                "device.allowMultipleAllocations",
                "!device.allowMultipleAllocations",
            )
        )

    def _constraint(self, requests: list[Object]) -> Object:
        named = self._dice.choice((requests, requests[:1]))
        word = "matchAttribute" if self._chance(2 / 3) else "distinctAttribute"
        kind = self._dice.choice(KINDS)
        attribute = self._dice.choice((_ROOT, f"{self._driver(kind)}/numa", f"{self._driver(kind)}/model"))
        return {"requests": [one["name"] for one in named], word: attribute}

    def _deployment(self, pod: Object) -> Object:
        """A Deployment of such pods."""
        labels = {"app": self._mark}
        metadata: Object = {"labels": {**pod["metadata"]["labels"], **labels}}
        if annotations := pod["metadata"].get("annotations"):
            metadata["annotations"] = annotations
        spec = {
            "replicas": self._dice.choice((2, 2, 3)),
            "selector": {"matchLabels": labels},
            "template": {"metadata": metadata, "spec": pod["spec"]},
        }
        named = {"name": f"{self._mark}-w", "namespace": self._mark}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named, "spec": spec}


def _cel(expression: str) -> Object:
    return {"cel": {"expression": expression}}


def _on(node: str) -> Object:
    """The term of a node."""
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
