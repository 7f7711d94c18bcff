"""One process acts at a time: the holder of a Lease of coordination.k8s.io/v1 (client-go, ``leaderelection``)."""
