"""The server of the Model Context Protocol, which assistants and pipelines start: ``streams-placement mcp``.

In reading order:

- ``message_search``: which text of the product a message is, and what it is about.
- ``review_tools``: the tools that ask for reviews and plans, with what they are given.
- ``tool_server``: the protocol. The only module that imports the SDK, which not every installation has.
"""
