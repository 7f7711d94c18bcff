"""Decision core: a pod, an inventory of the cluster and a policy in; a verdict and the pod's additions out.

Nothing in this package does input or output, logs, or reads a clock or the environment: the state of the cluster is an
argument (``docs/architecture.md``). ``decision.decision.decide`` judges one pod; read it first. The packages,
each of which imports only those after it:

``workload`` (many pods of one template), ``checks`` (finished pods, bindings, changes of nodes, hosts of pools),
``decision`` (verdict, refusal, merge), ``constraints`` (one file a family), ``request`` (what one pod asks for),
``provision`` (what its containers are given), ``pools`` (which hosts a HostPool gets), ``inventory`` (nodes, pods,
pools, jobs and intents, indexed), ``annotations`` (texts of annotations, parsed), ``spl`` (the placement language of
Streams), ``field_rules`` (rules of the fields of our objects), ``kube`` (pods and nodes as Kubernetes has them),
``text`` (annotation keys, problems, spelling).
"""
