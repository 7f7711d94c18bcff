"""Node groups, as real autoscalers scale them."""
