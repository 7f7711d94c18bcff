"""HostPools from their creation to their deletion, with the chart by default values."""
