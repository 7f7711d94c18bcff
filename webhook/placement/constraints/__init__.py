"""The constraint families, one file each, behind the interface of ``webhook.placement.constraints.constraint``."""
