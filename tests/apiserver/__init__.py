"""The fake API server of the tests: one engine for versions and conflicts, with a direct and an HTTP face.

``paths``     where objects are: collections by resource, paths of objects, and what a path says
``selectors`` label and field selectors of lists and watches
``storage``   the objects: resourceVersion, uid, generation, finalizers, watch history, pages of lists
``requests``  what GET, POST, PUT, PATCH and DELETE do to the storage, and with which status they are refused
``direct``    a client without a network, for simulated time
``server``    the same requests over HTTP or TLS, with watches, canned answers and faults on demand

``storage`` and ``requests`` follow kube-apiserver. They know no time, no schema of a kind and no defaults: times in
objects are constants or what a test wrote, and a generation is kept for every kind.
"""
