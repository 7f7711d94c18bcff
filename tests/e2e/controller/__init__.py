"""The controller of HostPools on a real control plane: what it does, what stops it, and what it costs."""
