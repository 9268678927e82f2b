"""A cluster on this machine: nodes that are namespaces, links between them, storage they share."""
