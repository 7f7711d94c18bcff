"""The placement language of Streams (SPL): text to clauses and back.

``tokens`` and ``reader`` are shared by both grammars: ``placement`` (``host("a"), hostExlocation("t")``, into the
values of ``clauses``) and ``host_pools`` (``config hostPool`` declarations). ``literals`` reads and writes quoted
strings.
"""
