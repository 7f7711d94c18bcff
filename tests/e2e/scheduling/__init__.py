"""The product's verdicts, and the model of kube-scheduler that unit tests judge them by, against the real scheduler."""
