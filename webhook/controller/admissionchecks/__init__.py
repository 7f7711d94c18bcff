"""Admission checks of Kueue: the pod sets of a Workload are judged as a whole before Kueue admits it.

Read in this order:

- ``records``, ``check_store``, ``watched_checks``: AdmissionChecks and Workloads as they are kept and watched.
- ``pod_sets``: the pods of a Workload, as Kueue will have them made; ``workload_slice``: whether some of them run
  already; ``queued_pods``: what is read for them; ``workload_judge``: whether all of them can run.
- ``check_answer``: a verdict as the state of a check.
- ``promised_room``: what admitted Workloads were promised; ``former_promises``: the same by a former leader.
- ``reconciler``: the answers to the checks of Workloads; ``woken_workloads``: which of those that wait fit by now.
- ``check_reports``: the condition of an AdmissionCheck; ``closed_checks``: the same once no controller is left.
"""
