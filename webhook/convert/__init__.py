"""Converts inputs of other systems into manifests: SPL, ADL and bundles of Streams, Twister2, EMCO.

Pure: an input is bytes with a name, and the result manifests, remarks and problems. Read in this order:

- ``conversion``: what ``input_kind`` an input has, and the way from it to manifests. ``findings``: what comes of it.
- ``spl``: programs, whose composites are expanded into operators. ``adl``, ``bundle``: operators of compiled
  applications. ``streams_application`` is what all are read into, and ``streams_job`` makes a Job of it.
- ``twister2`` and ``java_properties``: configurations. ``emco_requests`` and ``emco``: hardware intents.
- ``targets``: annotations on the user's own objects, in place of new ones.
- ``source_text`` and ``located_yaml``: texts, and YAML, with their lines.
"""
