"""The product's verdicts, and the model of kube-scheduler of the unit tests, against the real scheduler."""
