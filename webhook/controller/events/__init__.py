"""Events of events.k8s.io/v1 about our objects and pods.

``event`` is one Event, ``recorder`` is how reconcilers record one, ``events`` queues and writes them.
"""
