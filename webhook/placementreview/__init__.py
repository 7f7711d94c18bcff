"""PlacementReviews: what admission would answer to manifests, without submitting them; pure, as the core is.

Read ``review`` for the object that users send and get back. ``submission`` has what of the manifests counts as applied.
``explanations`` and ``plans`` are what the command line shows as well.
"""
