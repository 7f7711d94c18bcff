"""One name means one thing in the product."""

import ast
from collections import Counter
from pathlib import Path

import webhook


def test_no_class_name_is_defined_twice() -> None:
    trees = (ast.parse(path.read_text()) for path in Path(webhook.__file__).parent.rglob("*.py"))
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
