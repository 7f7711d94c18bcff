"""The clients of the benchmark, in a process of their own, and the pods that they create.

``variants`` lists what is compared, ``pods`` makes the pods of each variant; ``load`` sends ``orders`` to ``client``.
"""
