"""Model files with other content and the digest that belongs to it: somebody wrote them so."""

import json
from pathlib import Path

from safetensors import safe_open
from safetensors.numpy import save_file

from onesnap.data.sealed import digest
from onesnap.model.file import KEY


def rewritten(path: Path, change, out: Path | None = None) -> None:
    """Change the arrays and the settings of a model file, and its digest with them."""
    with safe_open(path, framework="numpy") as stream:
        tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        settings = json.loads(json.loads(stream.metadata()[KEY])["settings"])
    change(tensors, settings)
    text = json.dumps(settings)
    header = {KEY: json.dumps({"settings": text, "digest": digest(tensors, text)})}
    save_file(tensors, path if out is None else out, metadata=header)
