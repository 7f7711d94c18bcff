"""Objects of the API server as the values that placement knows.

Read in this order: ``wire`` (objects as the API server writes them), ``translate`` (nodes and pods) and
``custom_resources`` (HostPools, Jobs of Streams, HPAIntents), ``kinds`` (the kinds that are watched and read), ``sink``
(where values go), ``items`` (decoding), ``report`` (objects that could not be used).
"""
