"""What the containers of a pod are given: devices and amounts by hardware requirements, and exclusive CPUs.

Read ``provision`` first, then ``effects`` (the closed list of things that can be added to a pod), ``grants``,
``worker``, ``guarantee`` (what keeps a kubelet from giving cores away), ``intended`` (HPAIntents) and
``resource_rules`` (what the API server would refuse).
"""
