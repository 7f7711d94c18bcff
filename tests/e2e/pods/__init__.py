"""The product's own pods as plain processes: a kubelet, a forwarder for Services, and their tests."""
