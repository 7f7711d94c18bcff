"""Jobs of Streams whose elements ask for devices of dynamic resource allocation."""
