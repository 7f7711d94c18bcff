#!/bin/sh
# What kubectl asks for completions of its plugin. Put it on the PATH as kubectl_complete-streams_placement, executable:
# Krew does not install it, pip does.
exec kubectl-streams_placement __complete "$@"
