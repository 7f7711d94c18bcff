"""What one pod asks for, and the world it is judged against.

``world`` is an inventory with a policy; ``ask`` reads a pod once into the value that all constraint families share,
with ``lookup`` (which HostPool a name means), ``host_binding`` (node name or node affinity) and ``pod_text`` (how
refusals name what a pod says). ``memo`` keeps answers for pods that ask the same.
"""
