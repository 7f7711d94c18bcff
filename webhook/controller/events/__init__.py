"""Events of events.k8s.io/v1 about HostPools and pods: ``event`` is one Event, ``events`` queues and writes them."""
