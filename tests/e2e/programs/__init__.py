"""The programs of the control plane: found, built from Go modules, and run as processes."""
