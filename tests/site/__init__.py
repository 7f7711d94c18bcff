"""The built site, as readers use it; needs the generator (``make docs``)."""
