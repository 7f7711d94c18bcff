"""Reads the compiled description of Streams applications (ADL, XML) into Streams applications.

Read in this order: ``reading`` (the elements of a document), ``streams`` (the connections of its ports),
``application`` (what was read of an application, and its operators on every channel).
"""
