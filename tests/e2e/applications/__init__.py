"""Applications of other operators with the operators themselves, which are built from their Go modules."""
