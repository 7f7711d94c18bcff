"""Jobs of operators: their fusion is chosen together with the placement, and so are the widths of parallel regions."""
