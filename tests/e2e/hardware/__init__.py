"""Hardware requirements, CPU binding and worker mapping, shown by pods that a real scheduler binds to nodes of kwok."""
