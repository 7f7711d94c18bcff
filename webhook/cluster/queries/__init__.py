"""Questions that a review ends with, asked of the API server: rights, numbers of pods, pods not seen yet."""
