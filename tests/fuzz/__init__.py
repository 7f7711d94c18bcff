"""Fuzzing of every parser that a stranger can reach: ``make fuzz`` (``docs/contributing.md``).

Read in this order:

- ``targets``: the table of targets. ``target``: what a target is, and its bounds on time and memory.
- ``annotation_texts``, ``kubernetes_texts``, ``reviews``, ``http_requests``, ``documents``, ``rest_requests``: what
  must hold of an input of each target. ``oracles``: what must hold of every answer.
- ``placement_grammar``, ``second_opinion``: others who read the same texts.
- ``seeds``: inputs to begin with. ``found``: a folder of inputs that once showed a defect.
- ``fuzzing``: one target under atheris. ``__main__``: all targets in turn, each in a process.

Only ``fuzzing`` needs atheris. ``tests/test_fuzz_inputs.py`` replays seeds and inputs that were found without it.
"""
