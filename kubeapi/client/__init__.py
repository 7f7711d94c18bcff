"""An API client over aiohttp: configuration, credentials, one connection, single requests.

In reading order:

- ``access``: what a request needs to reach the API server, and the protocol ``Credentials`` that provides it.
- ``service_account``, ``kubeconfig``: the two kinds of credentials. ``client_tls``: the TLS context of both.
- ``kubeconfig_file``, ``credential_plugin``: the merged files, and the programs that print credentials.
- ``configuration``: credentials that are read again when they are due or were refused.
- ``errors``: ``ApiError`` with its ``Cause``, the only exception of a request that failed.
- ``connection``: one HTTP session; sends a request and answers with the response.
- ``object_client``: read, create, replace, patch and delete single objects, each bounded in time and size.
- ``api_types``: pages of a list, events of a watch, the metadata of an object.
- ``decoding``: messages for JSON text that cannot be decoded.
"""
