"""The product's verdicts compared with what becomes of the pods: random scenarios, their comparison, and reports.

``tests/e2e/fidelity`` plays them on a real control plane; here a model of the scheduler plays them.
"""
