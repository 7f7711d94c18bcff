"""The result of ``plan`` and ``explain`` as one HTML page that needs nothing else.

``page`` renders the value that ``placementreview.plans.document`` describes: header, refusals and tables for browsers
without JavaScript, for print and for text tools. ``tables`` has the tables, ``markup`` builds HTML out of texts that
may hold anything.

``room`` writes amounts of a resource in one unit.

Beside them lie the parts of the page that are not Python: ``page.html`` is its frame, ``page.css`` and ``overview.css``
its looks, and the scripts ``model.js`` (the value, indexed), ``nodes.js`` (the boxes of the nodes), ``panel.js``
(details of what is selected), ``squares.js`` (where the squares of the overview lie), ``overview.js`` (the overview)
and ``page.js`` (selection, search and keys), which are joined in this order into one.
"""
