"""Cache of Jobs, ProcessingElements, their pods, and HostPools, filled by the watches.

Read in this order: ``records`` (the objects, as far as they are kept), ``pod_reader`` (pods), ``store`` (the indices
and listeners), ``watched_kinds`` (the kinds for the watch).
"""
