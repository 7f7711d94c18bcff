"""The flags that name manifests, which are those of kubectl."""

import argparse


def add_manifests(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the flags that name manifests; unless these are ``required`` there may be none."""
    parser.add_argument(
        "-f",
        "--filename",
        action="extend",
        nargs="+",
        required=required,
        default=[],
        metavar="FILE",
        help="Manifests: files of YAML or JSON, folders of them, or - for standard input; may be repeated.",
    )
    parser.add_argument("-R", "--recursive", action="store_true", help="Read folders recursively.")
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", help="Namespace of objects that state none (default: default)."
    )
