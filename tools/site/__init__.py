"""The documentation as a site: its pages are those of the repository, checked, and need nothing from outside."""
