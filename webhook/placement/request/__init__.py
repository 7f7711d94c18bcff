"""What one pod asks for, and the ``World`` (inventory and policy) that one decision is made against.

Read ``world`` first, then ``ask``: it reads a pod once into the value that all constraint families share. ``ask`` uses
``annotated_pod`` (what the pod says in its annotations and labels), ``pool_lookup`` (which HostPool a name means),
``host_binding`` (``nodeName`` or node affinity for ``host("name")``) and ``pod_text`` (how refusals name what the pod
says outside of its placement). ``memo`` keeps answers for pods that ask the same of an unchanged cluster.
"""
