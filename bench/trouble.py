"""The error that ends a benchmark early."""


class Trouble(Exception):  # noqa: N818 - the word the product's own command line uses for it
    """One sentence for the person who started it; exit code 3."""
