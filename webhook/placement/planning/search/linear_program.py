"""A linear program with whole and fractional columns, solved by HiGHS.

HiGHS is imported when a program is solved, so that processes which never need it do not pay for it. It runs without the
interpreter's lock, so that a thread can wait for it while others work.
"""

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from webhook.placement.libraries import IMPORTING

if TYPE_CHECKING:
    import highspy


GAP: Final = 0.99
"""Maximum excess of a whole solution's cost over the bound: costs are whole, so a smaller excess proves the optimum."""


class LinearProgram:
    """A program under construction: columns from 0 to their upper bounds, with costs; rows with their bounds.

    ``size`` is the number of columns.
    """

    def __init__(self) -> None:
        self.size = 0
        self._upper: list[npt.NDArray[np.float64]] = []
        self._cost: list[npt.NDArray[np.float64]] = []
        self._whole: list[npt.NDArray[np.bool_]] = []
        self._rows: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], float, float]] = []

    @property
    def upper(self) -> list[float]:
        """The upper bounds of all columns."""
        bounds: list[float] = np.concatenate(self._upper).tolist() if self._upper else []
        return bounds

    def columns(
        self, upper: npt.NDArray[np.float64], cost: npt.NDArray[np.float64] | None = None, *, whole: bool = True
    ) -> npt.NDArray[np.intp]:
        """Add a column for each upper bound; returns their positions."""
        first, count = self.size, len(upper)
        self.size += count
        self._upper.append(upper)
        self._cost.append(np.zeros(count) if cost is None else cost)
        self._whole.append(np.full(count, whole))
        return np.arange(first, first + count)

    def row(self, columns: npt.ArrayLike, values: npt.ArrayLike, low: float, high: float) -> None:
        """Add the row that the columns, each times its value, sum up to a number from ``low`` to ``high``."""
        self._rows.append((np.asarray(columns, np.intp), np.asarray(values, np.float64), low, high))

    def run(self, seconds: float) -> tuple[str, npt.NDArray[np.float64] | None]:
        """``optimal``, ``infeasible`` or ``unknown``, and the cheapest solution that was found in so many seconds."""
        with IMPORTING:
            import highspy  # noqa: PLC0415 -- 0.1 s and 21 MB, only for those who need it

        highs: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False), ("threads", 1), ("random_seed", 1), ("time_limit", seconds),
            ("mip_rel_gap", 0.0), ("mip_abs_gap", GAP), ("parallel", "off"),
        ):  # fmt: skip
            highs.setOptionValue(option, value)
        self._pass(highs)
        highs.run()
        return _result(highs)

    def _pass(self, highs: "highspy.Highs") -> None:
        cost, upper, whole = np.concatenate(self._cost), np.concatenate(self._upper), np.concatenate(self._whole)
        starts = np.zeros(len(self._rows) + 1, np.int32)
        np.cumsum([len(row[0]) for row in self._rows], out=starts[1:])
        columns = np.concatenate([row[0] for row in self._rows]).astype(np.int32)
        values = np.concatenate([row[1] for row in self._rows])
        low = np.array([row[2] for row in self._rows])
        high = np.array([row[3] for row in self._rows])
        highs.passModel(
            self.size, len(self._rows), len(columns), 2, 1, 0.0, cost, np.zeros(self.size), upper, low, high,
            starts, columns, values, whole.astype(np.int32),
        )  # fmt: skip


def _result(highs: "highspy.Highs") -> tuple[str, npt.NDArray[np.float64] | None]:
    import highspy  # noqa: PLC0415 -- see run

    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return "infeasible", None
    solution = highs.getSolution()
    values = np.array(solution.col_value) if solution.value_valid else None
    return ("optimal" if status == highspy.HighsModelStatus.kOptimal else "unknown"), values
