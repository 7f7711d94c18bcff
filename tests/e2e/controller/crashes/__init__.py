"""Controllers that are killed, paused or absent, and their successors."""
