"""The device objects of a cluster (slices, classes, claims, taint rules), in indexes that follow its changes.

Read in this order: ``device`` (its attributes and capacity), ``slices`` (the part of a pool that one object publishes),
``claims`` (what a claim requests, and what is allocated to it), ``described`` (claims of devices that requirements
describe), ``taint_rules`` (taints that a person puts on devices), ``devices`` (all of these of a cluster, with
``changes``: the nodes that have other devices now, and ``pools``), ``columns`` and ``device_table`` (how the devices of
slices are kept), ``marks`` and ``mark_table`` (slices that are alike, as numbers).
"""
