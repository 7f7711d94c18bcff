"""What is written to a terminal: ``output`` (the forms of an answer) and ``progress`` (what takes long).

Below them ``differences`` (YAML and differences) and ``console`` (what a terminal may be sent).
"""
