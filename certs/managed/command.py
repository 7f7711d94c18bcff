"""The command ``manage``: checks its flags, configures the log, runs until a signal, and returns the exit code."""

import argparse
import asyncio
from collections.abc import Callable, Mapping

from certs.exits import OK, REFUSED, TROUBLE, WRONG_USE
from certs.managed.logs import LOG, log_to_standard_error
from certs.managed.run import manage
from certs.managed.secret import ForeignError
from certs.managed.settings import ManageGiven
from certs.names import printable
from kubeapi.client.configuration import NoClusterError
from kubeapi.leaderelection.lease_hold import LostError


def run(arguments: argparse.Namespace, environment: Mapping[str, str], complain: Callable[[str], None]) -> int:
    """Run until a signal; returns the exit code. ``complain`` prints an error before the log is configured."""
    given = ManageGiven(arguments, environment)
    asked = given.management()
    for problem in given.problems:
        complain(problem)
    if given.problems:
        return WRONG_USE
    try:
        configuration = given.configuration()
    except NoClusterError as error:
        complain(f"there is no cluster: {printable(str(error))}")
        return TROUBLE
    log_to_standard_error()
    try:
        asyncio.run(manage(asked, configuration))
    except (ForeignError, LostError) as error:
        LOG.error("%s", error)
        return REFUSED if isinstance(error, ForeignError) else TROUBLE
    return OK
