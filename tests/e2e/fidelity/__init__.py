"""Random scenarios on a real control plane: the product's verdicts against what the real scheduler does."""
