"""Random cases of each kind that are refused, and whether all that their refusals say holds."""
