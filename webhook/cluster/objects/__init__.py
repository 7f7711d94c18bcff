"""Objects of the API server as the values that placement knows.

Read in this order: ``wire`` (objects as the API server writes them), ``metadata`` (what all kinds share), ``nodes``,
``pods``, ``custom_resources`` (HostPools, Jobs of Streams, HPAIntents), ``storage`` (volumes and their claims) and
``plugin_objects`` (each of these kinds as values), ``device_versions`` (devices of older versions), ``kinds`` (kinds
that are watched and read), ``sink`` (where values go), ``items`` (decoding), ``report`` (objects that could not be
used).
"""
