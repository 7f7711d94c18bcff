"""``MergedKubeconfig``: the contexts, clusters and users of kubeconfig files, merged as kubectl merges them.

Of entries with one name in several files the first one counts, whole; so does the first ``current-context`` that is not
empty. Files that do not exist are left out. Relative paths start at the folder of the file that states them (client-go,
``tools/clientcmd/loader.go``). Reading files runs no plugin.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec
import yaml
from msgspec import Struct, field

from kubeapi.client.decoding import inspect_types, reason

DEFAULT: Final = "~/.kube/config"
"""The kubeconfig that kubectl reads if ``KUBECONFIG`` is not set."""

EXTENSION: Final = "client.authentication.k8s.io/exec"
"""The extension of a cluster that its credential plugin is told (client-go, ``tools/clientcmd/client_config.go``)."""


class StatedCluster(Struct, rename="kebab"):
    """``cluster`` of a kubeconfig: where the API server is, and how its certificate is verified."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False


class Variable(Struct):
    """An environment variable of a credential plugin."""

    name: str = ""
    value: str = ""


class Plugin(Struct, rename="camel"):
    """``exec`` of a user: a program that prints credentials (client-go credential plugin)."""

    command: str = ""
    args: list[str] = []
    env: list[Variable] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: Literal["", "Never", "IfAvailable", "Always"] = ""


class AuthProvider(Struct):
    """``auth-provider`` of a user."""

    name: str = ""
    config: dict[str, str] = {}


class StatedUser(Struct, rename="kebab"):
    """``user`` of a kubeconfig: credentials, and whom the user impersonates."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    impersonate: str = field(default="", name="as")
    impersonate_uid: str = field(default="", name="as-uid")
    impersonate_groups: list[str] = field(default_factory=list, name="as-groups")
    impersonate_extra: dict[str, list[str]] = field(default_factory=dict, name="as-user-extra")
    auth_provider: AuthProvider | None = None
    plugin: Plugin | None = field(default=None, name="exec")


class StatedContext(Struct):
    """``context`` of a kubeconfig: a cluster and a user by their names, and a namespace."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(Struct):
    """A cluster, its name, and the file that states it."""

    name: str
    cluster: StatedCluster
    file: Path = Path()


class NamedUser(Struct):
    """A user and its name."""

    name: str
    user: StatedUser = field(default_factory=StatedUser)


class NamedContext(Struct):
    """A context and its name."""

    name: str
    context: StatedContext


class _File(Struct, rename="kebab"):
    clusters: list[NamedCluster] = []
    users: list[NamedUser] = []
    contexts: list[NamedContext] = []
    current_context: str = ""


N = TypeVar("N", NamedCluster, NamedUser, NamedContext)


class MergedKubeconfig(Struct, frozen=True):
    """What several files say, by name; ``files`` are those that were read."""

    files: tuple[Path, ...]
    clusters: dict[str, NamedCluster] = {}
    users: dict[str, NamedUser] = {}
    contexts: dict[str, NamedContext] = {}
    current: str = ""

    def chosen(self, name: str | None) -> tuple[NamedCluster, NamedUser]:
        """Cluster and user of a context, ``None`` being the current one. Raises ``ValueError`` if one does not exist.

        kubectl sends requests without credentials if the context's user does not exist; this is an error here.
        """
        files = ", ".join(map(str, self.files))
        if not (name := name or self.current):
            raise ValueError(f"no context is named, and {files} has no current-context")
        if name not in self.contexts:
            raise ValueError(f"{files} has no context {name}")
        context = self.contexts[name].context
        if context.cluster not in self.clusters:
            raise ValueError(f"the cluster {context.cluster} of context {name} is not in {files}")
        if context.user and context.user not in self.users:
            raise ValueError(f"the user {context.user} of context {name} is not in {files}")
        return self.clusters[context.cluster], self.users.get(context.user) or NamedUser("")


def usual_files() -> str:
    """The files that kubectl reads, between ``os.pathsep``: those that ``KUBECONFIG`` names, or :data:`DEFAULT`."""
    return os.environ.get("KUBECONFIG") or DEFAULT


def existing_files(files: str) -> list[Path]:
    """Those of the files that exist, each once; ``FileNotFoundError`` if there are none.

    ``files`` is a list as in ``KUBECONFIG``; a ``~`` at the beginning of a path is the home folder.
    """
    paths = dict.fromkeys(Path(path).expanduser() for path in files.split(os.pathsep) if path)
    if existing := [path for path in paths if path.exists()]:
        return existing
    raise FileNotFoundError(f"there is no file {files}")


def merged(files: str) -> MergedKubeconfig:
    """The files as one kubeconfig. Raises ``OSError``, or ``ValueError`` for a file that is not a kubeconfig."""
    paths = existing_files(files)
    read = [_file(path) for path in paths]
    return MergedKubeconfig(
        tuple(paths),
        clusters=_first(cluster for file in read for cluster in file.clusters),
        users=_first(user for file in read for user in file.users),
        contexts=_first(context for file in read for context in file.contexts),
        current=next((file.current_context for file in read if file.current_context), ""),
    )


def told_plugin(cluster: NamedCluster) -> object:
    """The value of the cluster's extension :data:`EXTENSION`, read again, with the types of YAML; ``None`` without."""
    for entry in entries(_load(cluster.file, _Typed), "clusters", "cluster"):
        if str(entry["name"]) == cluster.name:
            for extension in entries({"extensions": entry["cluster"].get("extensions")}, "extensions"):
                if extension["name"] == EXTENSION:
                    return extension.get("extension")
    return None


def read_texts(path: Path) -> Any:  # noqa: ANN401 -- any YAML
    """The YAML document of a file, in which all scalars are texts, but ``null`` is left out of mappings."""
    return _without_null(_load(path, _Texts))


def entries(config: Any, name: str, inner: str = "") -> list[dict[str, Any]]:  # noqa: ANN401 -- any YAML
    """The entries of the list ``name`` of a kubeconfig that have a name, and a mapping ``inner`` if one is stated."""
    listed = config.get(name) if isinstance(config, dict) else None
    return [
        entry
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and "name" in entry and (not inner or isinstance(entry.get(inner), dict))
    ]


class _Texts(yaml.CSafeLoader):
    """Reads scalars as texts: names, tokens and account numbers are what is written, also ``007`` and ``1e5``."""


class _Typed(yaml.CSafeLoader):
    """PyYAML's safe loader, except that dates stay text, because JSON has no dates."""


_KEPT: Final = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")
_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Typed.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _load(path: Path, loader: type[yaml.CSafeLoader]) -> Any:  # noqa: ANN401 -- any YAML
    return yaml.load(path.read_bytes(), Loader=loader)  # noqa: S506 -- both loaders are safe ones


def _without_null(value: Any) -> Any:  # noqa: ANN401 -- any YAML
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value


def _file(path: Path) -> _File:
    """One file, with absolute paths. Raises ``OSError`` or ``ValueError``."""
    try:
        document = read_texts(path)
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{path} is not YAML: {error.problem}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    try:
        file = msgspec.convert({} if document is None else document, _File, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path} is not a kubeconfig: {reason(error)}") from None
    for kind, names in (
        ("clusters", [each.name for each in file.clusters]),
        ("users", [each.name for each in file.users]),
        ("contexts", [each.name for each in file.contexts]),
    ):
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"{path} has two {kind} with the name {twice}")
    _resolve(path, file)
    return file


def _resolve(path: Path, file: _File) -> None:
    """Put the folder of ``path`` in front of relative paths, and of commands that are paths."""
    folder = path.parent.absolute()
    for named in file.clusters:
        named.file = path
        _absolute(named.cluster, folder, "certificate_authority")
    for user in (named.user for named in file.users):
        _absolute(user, folder, "client_certificate", "client_key", "token_file")
        if user.plugin and "/" in user.plugin.command:
            _absolute(user.plugin, folder, "command")


def _absolute(entry: Struct, folder: Path, *fields: str) -> None:
    for name in fields:
        if stated := getattr(entry, name):
            setattr(entry, name, str(folder / stated))


def _first(named: Iterable[N]) -> dict[str, N]:
    by_name: dict[str, N] = {}
    for each in named:
        by_name.setdefault(each.name, each)
    return by_name


inspect_types(__name__)  # threads that read several clusters import this module when they need it first
