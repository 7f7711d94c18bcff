"""Pods and taints of others on the hosts of HostPools."""
