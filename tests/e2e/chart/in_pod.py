"""Runs one of the product's programs as in a pod: ``SERVICE_ACCOUNT=FOLDER python in_pod.py MODULE ARGUMENT ...``.

Processes on one machine share ``/var/run``, so the folder from which the service account is read by default is replaced
by another one for each process. Nothing else is different.
"""

import os
import runpy
import sys
from pathlib import Path

FOLDER = Path(os.environ["SERVICE_ACCOUNT"])

module = sys.argv.pop(1)
if module == "webhook":
    from kubeapi.client import configuration

    configuration.find_configuration.__kwdefaults__ = {"account": FOLDER}
else:
    from certs.managed import settings

    settings.pod_account.__defaults__ = (FOLDER,)
runpy.run_module(module, run_name="__main__", alter_sys=True)
