"""The controller of HostPools on a real control plane: its function, its failures, and its costs."""
