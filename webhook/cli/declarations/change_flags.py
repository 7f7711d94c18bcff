"""Flags of changes that count as made: ``--drain``, ``--cordon``, ``--add-nodes`` and ``--remove-pod``."""

import argparse


def add_what_if(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    for flag, value, about in (
        ("--drain", "NODE", "Assume that these nodes are drained; also says whether their pods find a node again."),
        ("--cordon", "NODE", "Assume that these nodes are cordoned."),
        ("--add-nodes", "NODE[=COUNT]", "Assume more nodes like this one, such as node-a=3 for three."),
        ("--remove-pod", "[NAMESPACE/]NAME", "Assume that these pods are gone."),
    ):
        # A setting of servers is called drain as well.
        name = f"what_if_{flag[2:].replace('-', '_')}"
        parser.add_argument(flag, dest=name, action="extend", nargs="+", default=[], metavar=value, help=about)
