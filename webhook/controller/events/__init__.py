"""Events of events.k8s.io/v1 about pools and nodes: what ``kubectl describe`` shows."""
