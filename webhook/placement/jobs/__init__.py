"""Jobs of Streams as a whole: what can be wrong with one, the pods of its processing elements, and their life."""
