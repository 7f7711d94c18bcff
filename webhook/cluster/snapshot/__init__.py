"""A cluster, or manifests, read from files of YAML or JSON."""
