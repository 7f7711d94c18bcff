"""PlacementReviews: what admission would answer to manifests, without submitting them; pure, as the core is.

Read ``review`` for the object that users send and get back, then ``answer`` for how its status is made.
"""
