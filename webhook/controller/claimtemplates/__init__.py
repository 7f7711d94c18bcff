"""ResourceClaimTemplates of devices that hardware requirements describe: made for pods, deleted when unused.

Read in this order: ``template_users`` (which pods need which templates), ``template_object`` (a template as JSON),
``reconciler``.
"""
