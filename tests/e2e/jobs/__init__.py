"""Jobs of Streams on a control plane with the chart: submission, restarts, changes, deletion."""
