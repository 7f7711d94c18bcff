"""The control plane: etcd, API server, scheduler, controller-manager and kwok, started and ended together."""
