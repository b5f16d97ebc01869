"""What loaders of other libraries share: texts with flat metadata."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, Tuple, Union

from . import Document, _pith, extract, shards

#: The fields that a vector store can keep: texts and numbers.
_FIELDS = ("id", "url", "fetched_at", "title", "author", "published", "site", "language", "page_type", "confidence")


def load(path: Union[str, "os.PathLike[str]"], **settings: Any) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Text and metadata of every document."""
    for document in _documents(path, settings):
        metadata = {name: getattr(document, name) for name in _FIELDS}
        metadata["summary"] = " ".join(sentence.text for sentence in document.summary) or None
        metadata["source"] = document.url
        text = document.markdown if settings.get("markdown") else document.text
        yield text or "", {name: value for name, value in metadata.items() if value is not None}


def _documents(path: Union[str, "os.PathLike[str]"], settings: Dict[str, Any]) -> Iterator[Document]:
    if os.path.splitext(os.fspath(path))[1].lower() in (".html", ".htm", ".xhtml"):
        with open(path, "rb") as file:
            yield extract(file.read(), f"file://{os.path.abspath(path)}", **settings)
        return
    for archive in _pith.find_archives([path]):
        yield from shards.documents(archive, **settings)
