"""One name means one thing in the product."""

import ast
from collections import Counter

from tests.docs.pages import ROOT

PACKAGES = ("webhook", "certs", "kubeapi")


def test_no_class_name_is_defined_twice() -> None:
    trees = (ast.parse(path.read_text()) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
