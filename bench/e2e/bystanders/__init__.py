"""What the chart costs objects that ask for nothing, through real API servers: ``python -m bench.e2e.bystanders``.

Modules in reading order:

* ``requests``: the requests for such objects;
* ``planes``: control planes with the chart, each in one of four states;
* ``pairs``: what is measured in two planes by turns, and the share of one in the other;
* ``turns``: requests to two planes by turns;
* ``page``: the tables;
* ``__main__``: the command.
"""
