"""PlacementReviews: what admission would answer to manifests, without submitting them; pure, as the core is.

Read ``review`` for the object that users send and get back, then ``answer`` for how its status is made: ``bounds``
checks the spec, ``what_if`` changes the cluster, ``evictions`` plays drains, and ``results`` has the results of
manifests, which ``submitter`` gives to admission. ``hidden_names`` keeps out what users may not list.

``explanations`` and ``plans`` are what the command line shows as well. ``submission`` has what of the manifests counts
as applied.
"""
