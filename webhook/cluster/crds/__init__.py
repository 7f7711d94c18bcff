"""The CustomResourceDefinitions of HostPool and HPAIntent: schemas and CEL rules; ``tools.crds`` writes them."""
