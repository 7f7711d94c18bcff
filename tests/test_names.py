"""One name means one thing in the product."""

import re
from collections import Counter

from tests.docs.pages import ROOT

PACKAGES = ("webhook", "certs", "kubeapi")


def test_no_class_name_is_defined_twice() -> None:
    texts = [path.read_text() for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = Counter(name for text in texts for name in re.findall(r"^ *class (\w+)[(:\[]", text, re.MULTILINE))
    assert len(names) > len(texts)
    assert [name for name, count in names.items() if count > 1] == []
