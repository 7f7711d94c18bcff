"""LeaderWorkerSets and DisaggregatedSets with their real controllers."""
