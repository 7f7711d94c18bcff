"""EMCO's REST interface for HPA intents (``docs/rest.md``): intents, their resource consumers and requirements.

In reading order:

- ``program``: the process, from its checks at the start to the last answer. ``rest_settings``: its flags, declared in
  ``rest_setting_fields``.
- ``api``: the handler of every request. ``routes``: paths and the names in them. ``query_text``: parameters.
- ``access``, ``cluster_access``: who may ask. ``request_rate``: how often. ``rest_metrics``: metrics.
- ``openapi``: the document that describes the interface. ``docs_page``: the page for people that is made of it.
- ``bodies``: request bodies: their schemas, and the entities that are read from them. ``json_text``: JSON, strictly.
- ``answers``: answers about entities.
- ``intents``: entities, and what each operation makes of a stored intent. Pure.
- ``storage``: where intents are stored: in one file, or as HPAIntent objects of a cluster.
- ``request_error``: what is wrong with a request, as data, and as an answer.
"""
