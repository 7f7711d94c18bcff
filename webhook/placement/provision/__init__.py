"""Resources given to the containers of a pod (devices, amounts, exclusive CPUs), and the kinds of effects on a pod.

Read ``provision`` first, then ``effects`` (the closed list of things that can be added to a pod), ``grants`` (what
hardware requirements give to containers), ``stated_resources`` (what a Job and its processing elements state),
``worker`` (the container that gets hardware, and its CPU binding), ``exclusive_cpus`` (whether kubelets give a
container cores of its own), ``intended_hardware`` (requirements from HPAIntents) and ``resource_rules`` (what the API
server would refuse).
"""
