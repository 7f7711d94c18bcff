"""One file for each command of the program: ``add(subparsers)`` declares its flags, ``run(arguments)`` runs it.

``webhook.cli`` lists them and imports the file of the command that was called, and no other.
"""
