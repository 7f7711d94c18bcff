"""EMCO's REST interface for HPA intents (``docs/rest.md``): intents, their resource consumers and requirements.

In reading order:

- ``program``: the process, from its checks at the start to the last answer. ``rest_settings``: its flags.
- ``api``: the handler of every request. ``routes``: paths and the names in them. ``pages``: pages beside the interface.
- ``access``: who may ask. ``request_rate``: how often.
- ``openapi``: the document that describes the interface, and the page made of it.
- ``bodies``: request bodies: their schemas, and the entities that are read from them. ``json_text``: JSON, strictly.
- ``intents``: entities, and what each operation makes of a stored intent. Pure.
- ``store``: the protocol of storage, with two implementations: ``sqlite_store`` (one file) and ``cluster_store``
  (HPAIntent objects, whose names and annotations ``intent_objects`` makes).
- ``request_error``: what is wrong with a request, as data, and as an answer.
"""
