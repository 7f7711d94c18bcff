"""``SharedElements``: a lower bound of the traffic between processing elements, by a semidefinite program.

The program has a matrix that tells of each two units whether they share an element. Whatever the fusion is, so many
times the matrix less a matrix of ones has no negative eigenvalue, its entries are from 0 to 1, each row, times the
loads, is the load of an element, and of three units two pairs share an element only if the third pair does. There are
too many such triples for all of them to be rows: those that the last solution breaks most are added.

It is solved by an alternating direction method (Wen, Goldfarb and Yin, "Alternating direction augmented Lagrangian
methods for semidefinite programming", 2010). The trace of the matrix is known, so the prices of every step give a bound
that holds, however far the solution has come (Jansson, Chaykin and Keil, "Rigorous error bounds for the optimal value
in semidefinite programming", 2007).
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from webhook.placement.fusion.graph import Graph

Matrix: TypeAlias = npt.NDArray[np.float64]
Triples: TypeAlias = npt.NDArray[np.intp]

FIRST: Final = 200
"""Steps before the first search for triples: the solution without any triple is nearly reached by then."""

_ROUNDS: Final = 12
"""Times that triples are added at most."""

_STEPS: Final = 60
"""Steps after triples were added."""

_TUNED: Final = 10
"""Steps after which the penalty is adapted."""

_STRIDE: Final = 1.6
"""Step length: the method converges for values below 1.618."""

_BROKEN: Final = 0.02
"""Minimum violation of a triple inequality that is added."""

_PRICED: Final = 1e-5
"""The price of a triple above which it stays."""

_ADDED: Final = 3
"""Triples that are added at a time, for each unit."""

_MOST: Final = 8
"""Triples that there are at a time at most, for each unit."""

_GAIN: Final = 0.003
"""The last round is the second one that makes the bound better by less than this part of it."""

_SIGNS: Final = np.array([1.0, 1.0, -1.0])
"""Of a triple: two pairs that may share elements, less the third."""


class SharedElements:
    """The program of a graph whose ``count`` elements are at most as heavy as ``limit``."""

    def __init__(self, graph: Graph, count: int, limit: int) -> None:
        size = len(graph.units)
        loads = np.array([unit.load for unit in graph.units], np.float64)
        self._size, self._count = size, count
        self._norm = float(np.linalg.norm(loads)) or 1.0  # operators may cost nothing
        self._loads = loads / self._norm
        lightest = max(loads.sum() - (count - 1) * limit, loads.min())
        self._rows(lightest / self._norm, limit / self._norm)
        cost = np.zeros((size, size))
        for at, near in enumerate(graph.near):
            for to, weight in near.items():
                cost[at, to] = -weight / 2
        self._scale = float(np.linalg.norm(cost))
        self._cost = cost / self._scale
        self._apart = np.array([[at != to and bool(graph.clash(at, to)) for to in range(size)] for at in range(size)])
        self._traffic = float(-cost.sum()) * (1 - 1 / count)
        self._trace = size * (1 - 1 / count)
        self._least = -1 / count
        # What is solved for: the matrix less its part of the ones, slacks of rows, and prices of both.
        self._matrix = np.eye(size) * (1 - 1 / count)
        self._slacks, self._slack_prices = np.zeros(size + 1), np.zeros(size + 1)
        self._entries, self._positive = np.zeros((size, size)), np.zeros((size, size))
        self._penalty = 0.3
        self._triples: Triples = np.zeros((0, 3), np.intp)
        self._work = 0
        self._with(self._triples)

    def least(self, enough: float, work: int, over: Callable[[], bool]) -> float:
        """The bound; the search for it ends with one that is more than ``enough``, or after so much work."""
        best, steps, small = 0.0, 0, 0
        for turn in range(_ROUNDS):
            for _ in range(FIRST if turn == 0 else _STEPS):
                steps += 1
                self._step()
                if steps % _TUNED == 0:
                    self._tune()
                if over() or self._work > work:
                    return max(best, self._bound())
            bound = self._bound()
            small += bound < best * (1 + _GAIN)
            best = max(best, bound)
            if best > enough or small > 1 or not self._refine():
                break
        return best

    def _rows(self, lightest: float, heaviest: float) -> None:
        """The rows that are always there: the diagonal, the load of each unit's element, and of all of them."""
        size, count, loads = self._size, self._count, self._loads
        total, square = float(loads.sum()), float(loads @ loads)
        unshared, squares = total, 0.0
        for others in reversed(range(count)):
            load = min(heaviest, unshared - others * lightest)
            squares += load * load
            unshared -= load
        gram = np.zeros((2 * size + 1, 2 * size + 1))
        own, heavy = slice(0, size), slice(size, 2 * size)
        gram[own, own] = np.eye(size)
        gram[own, heavy] = gram[heavy, own] = np.diag(loads)
        gram[heavy, heavy] = (np.eye(size) * square + np.outer(loads, loads)) / 2 + np.eye(size)
        gram[own, -1] = gram[-1, own] = loads * loads
        gram[heavy, -1] = gram[-1, heavy] = loads * square
        gram[-1, -1] = square * square + 1
        self._gram = gram
        self._right = np.concatenate(
            [np.full(size, 1 - 1 / count), np.full(size, heaviest - total / count), [squares - total * total / count]]
        )
        self._range = np.concatenate([np.full(size, heaviest - lightest), [squares]])

    def _with(self, triples: Triples) -> None:
        """Take these triples for rows beside those that are always there."""
        size, count, loads = self._size, len(triples), self._loads
        fixed = len(self._gram)
        one, other, third = triples.T
        self._first, self._second = np.stack([one, other, one], 1), np.stack([third, third, other], 1)
        places = np.arange(count)
        beside = np.zeros((count, fixed))
        for at, sign in enumerate(_SIGNS):
            first, second = self._first[:, at], self._second[:, at]
            beside[places, size + first] += sign * loads[second] / 2
            beside[places, size + second] += sign * loads[first] / 2
            beside[:, -1] += sign * loads[first] * loads[second]
        keys = np.minimum(self._first, self._second) * size + np.maximum(self._first, self._second)
        pairs, place = np.unique(keys, return_inverse=True)
        signs = np.zeros((count, len(pairs)))
        signs[places[:, None], place.reshape(keys.shape)] = _SIGNS
        gram = np.block([[self._gram, beside.T], [beside, signs @ signs.T / 2 + np.eye(count)]])
        self._inverse = np.linalg.inv(gram)
        self._work += len(gram) ** 3 // 16
        self._limits = np.concatenate([self._right, np.full(count, 1 - 1 / self._count)])
        self._ranges = np.concatenate([self._range, np.full(count, 3.0)])
        self._triples = triples

    def _values(self, matrix: Matrix, slacks: Matrix) -> Matrix:
        """The rows of a matrix and slacks."""
        loads = matrix @ self._loads
        triples = matrix[self._first, self._second] @ _SIGNS
        values = np.concatenate([np.diag(matrix), loads, [self._loads @ loads], triples])
        values[self._size :] += slacks
        return values

    def _priced(self, prices: Matrix) -> Matrix:
        """The matrix of these prices of the rows."""
        size = self._size
        matrix: Matrix = np.outer(prices[size : 2 * size], self._loads)
        np.add.at(matrix, (self._first, self._second), prices[2 * size + 1 :, None] * _SIGNS)
        matrix = (matrix + matrix.T) / 2 + prices[2 * size] * np.outer(self._loads, self._loads)
        matrix[np.diag_indices(size)] += prices[:size]
        return matrix

    def _step(self) -> None:
        """Solve for the prices of the rows, of eigenvalues and of entries in turn, and move the matrix and slacks."""
        penalty, size = self._penalty, self._size
        self._work += size**3 + 2 * len(self._inverse) ** 2
        missing = self._values(self._matrix, self._slacks) - self._limits
        known = self._values(self._entries + self._positive - self._cost, self._slack_prices)
        self._prices = -self._inverse @ (penalty * missing + known)
        reduced = self._cost - self._priced(self._prices)
        values, vectors = np.linalg.eigh(reduced - self._entries - penalty * self._matrix)
        above = values > 0
        self._positive = (vectors[:, above] * values[above]) @ vectors[:, above].T
        prices = self._prices[size:]
        moved = -prices - penalty * self._slacks
        self._slack_prices = moved + penalty * np.clip(-moved / penalty, 0, self._ranges)
        entries = reduced - self._positive + penalty * (self._least - self._matrix)
        self._entries = np.where(self._apart, entries, np.maximum(entries, 0))
        np.fill_diagonal(self._entries, 0)
        self._change = (self._positive + self._entries - reduced) / penalty
        self._matrix = self._matrix + _STRIDE * self._change
        self._slacks = self._slacks + _STRIDE * (self._slack_prices + prices) / penalty

    def _tune(self) -> None:
        """Adapt the penalty, so that rows and prices become right at one pace."""
        missing = self._values(self._matrix, self._slacks) - self._limits
        rows = float(np.linalg.norm(missing) / (1 + np.linalg.norm(self._limits)))
        prices = self._penalty * float(np.linalg.norm(self._change))
        if rows < 0.7 * prices:
            self._penalty *= 0.75
        elif rows > 1.4 * prices:
            self._penalty /= 0.75

    def _bound(self) -> float:
        """The bound that the prices give."""
        reduced = self._cost - self._priced(self._prices) - self._entries
        slack = float(np.maximum(self._prices[self._size :], 0) @ self._ranges)
        eigen = self._trace * float(np.linalg.eigvalsh(reduced)[0])
        value = float(self._limits @ self._prices) + self._least * float(self._entries.sum()) + eigen - slack
        return self._traffic + self._scale * value

    def _refine(self) -> bool:
        """Add the triples that the matrix breaks most, leave out those without a price; whether any was added."""
        size, fixed = self._size, len(self._gram)
        shared = self._matrix - self._least
        broken: list[Matrix] = []
        below = np.tril_indices(size)
        for third in range(size):
            row = shared[third]
            excess = row[:, None] + row[None, :] - shared - 1
            excess[third, :] = excess[:, third] = excess[below] = 0
            broken_at = np.nonzero(excess > _BROKEN)
            broken.append(np.column_stack([excess[broken_at], *broken_at, np.full(len(broken_at[0]), third)]))
        worst = np.concatenate(broken)
        stays = np.abs(self._prices[fixed:]) > _PRICED
        kept = self._triples[stays]
        room = min(_ADDED * size, _MOST * size - len(kept))
        worst = worst[np.argsort(-worst[:, 0], kind="stable")][: max(0, room)]
        known = {tuple(triple) for triple in kept.tolist()}
        added = [triple for triple in worst[:, 1:].astype(np.intp).tolist() if tuple(triple) not in known]
        if not added:
            return False
        always = self._size + 1
        more = np.zeros(len(added))
        self._slacks = np.concatenate([self._slacks[:always], self._slacks[always:][stays], more])
        self._slack_prices = np.concatenate([self._slack_prices[:always], self._slack_prices[always:][stays], more])
        self._with(np.concatenate([kept, np.array(added, np.intp)]))
        return True
