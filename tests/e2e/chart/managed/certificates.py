"""The certificates of an installation: those in the Secret, the trusted ones, and those that the processes show."""

import base64
from typing import Final

from certs.authority import Authority, Leaf
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.secret import read_secret
from tests.e2e.chart.clients import bundle, shown
from tests.e2e.chart.counters import addresses
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import JSON_PATCH, Api
from tests.e2e.polling import until

DEPLOYMENT: Final = f"{RELEASE}-certificates"
"""Of the process that makes them."""

SECRET: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets/{RELEASE}-tls"

_SECONDS: Final = 60.0
"""For one rotation, which takes 1 s, and 6 s with a new authority."""


class Certificates:
    """Certificates, as the API server sees them."""

    def __init__(self, admin: Api) -> None:
        self._admin = admin

    @property
    def held(self) -> CertificateSecret:
        """What the Secret holds."""
        return read_secret(self._admin.get(SECRET))

    @property
    def authority(self) -> Authority:
        """What issues leaves."""
        authority = self.held.authority
        assert authority is not None
        return authority

    @property
    def leaf(self) -> str:
        """The leaf in the Secret, in PEM."""
        return self._text("tls.crt")

    @property
    def settled(self) -> bool:
        """Whether one authority is trusted, and the leaf is its own."""
        held = self.held
        return bool(held.issuer) and held.following is None and bundle(self._admin) == self._text("ca.crt", end="\n")

    def serve(self, certificate: bytes, key: bytes) -> None:
        """Put these into the Secret."""
        data = {name: base64.b64encode(text).decode() for name, text in (("tls.crt", certificate), ("tls.key", key))}
        self._admin.patch(SECRET, {"data": data})

    def serve_leaf(self, leaf: Leaf) -> None:
        """Put a whole pair into the Secret, and wait until every process shows it."""
        self.serve(leaf.certificate_pem, leaf.key_pem)
        self._until_shown()

    def take_away(self, key: str) -> None:
        """Take ``tls.crt`` or ``authority.key`` out of the Secret, and wait until there is another leaf."""
        before = self.leaf
        self._admin.patch(SECRET, [{"op": "remove", "path": f"/data/{key}"}], content=JSON_PATCH)
        until(lambda: self.leaf not in {before, ""}, f"{key} is made anew", _SECONDS)

    def renew(self, key: str) -> None:
        """The same, and wait until everything new is in use, and nothing old."""
        self.take_away(key)
        until(lambda: self.settled, "one authority is trusted", _SECONDS)
        self._until_shown()

    def work(self, replicas: int) -> None:
        """How many processes make certificates; waits until it is so."""
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{DEPLOYMENT}"
        self._admin.patch(f"{path}/scale", {"spec": {"replicas": replicas}})
        until(lambda: len(self._makers()) == replicas, f"{replicas} processes make certificates", _SECONDS)

    def _makers(self) -> list[str]:
        selector = "app.kubernetes.io/component=certificates"
        pods = self._admin.get(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=selector)["items"]
        return [one["metadata"]["name"] for one in pods]

    def _until_shown(self) -> None:
        until(lambda: self._shown() == [self.leaf] * 2, "every process shows the new leaf", _SECONDS)

    def _shown(self) -> list[str]:
        return [shown(address) for address in addresses(self._admin)]

    def _text(self, key: str, end: str = "") -> str:
        return base64.b64decode(self._admin.get(SECRET)["data"].get(key, "")).decode().strip() + end
