"""The command `doctor`: what is installed, what is used, and what is missing."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from importlib import metadata

import typer

Row = tuple[str, str, str]
# What an extra is good for; its packages stand in the metadata.
EXTRAS = {
    "data": "HDF5, NetCDF, Zarr",
    "assimilate": "snap.assimilate",
    "dask": "fits on a Dask cluster",
}


def installed(package: str) -> str | None:
    """The version of a package; None if it is missing."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def needs() -> dict[str, list[str]]:
    """The packages that onesnap needs, by extra; those it always needs under an empty name."""
    packages: dict[str, list[str]] = {"": [], **{extra: [] for extra in EXTRAS}}
    for line in metadata.requires("onesnap") or []:
        name = re.split(r"[\s\[<>=!~;(]", line, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)", line)
        packages.setdefault(extra[1] if extra else "", []).append(name)
    return packages


def examine() -> list[Row]:
    """Rows of what, value, and what follows from it."""
    import jax

    from .. import __version__
    from ..network.native.library import compiled

    native = compiled()
    devices = ", ".join(f"{device.platform}:{device.id}" for device in jax.devices())
    found = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("firefox")
    rows = [
        ("onesnap", __version__, ""),
        ("Python", platform.python_version(), sys.executable),
        ("system", platform.platform(), ""),
        ("devices", devices, "steps in JAX run on the first; native code on the processor"),
        ("native code", native.about, "" if native.code else "JAX does the same, but slower"),
        ("browser", found or "none found", "" if found else "open pages on another machine"),
    ]
    for extra, packages in needs().items():
        if extra and extra not in EXTRAS:
            continue
        versions = {package: installed(package) for package in packages}
        there = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        missing = [name for name, version in versions.items() if version is None]
        words = ""
        if missing:
            words = f"missing: {', '.join(missing)}; "
            words += f"pip install 'onesnap[{extra}]'" if extra else "pip install onesnap"
        what = f"extra {extra} ({EXTRAS[extra]})" if extra else "packages"
        rows.append((what, there or "none", words))
    return rows


def doctor() -> None:
    """Show versions, devices, native code and its folder, and what is missing."""
    from .words import show

    show(examine(), "onesnap doctor")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog="Example: [bold]onesnap doctor[/bold]")(doctor)
