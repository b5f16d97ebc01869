"""LlamaIndex: a reader of archives, crawls and saved pages (needs `llama-index-core`).

    PithReader().load_data("crawl")
"""

from __future__ import annotations

import os
from typing import Any, Iterator, Union

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from .loading import load


class PithReader(BaseReader):
    """The documents of an archive, a crawl folder, a folder of archives, or a saved page (`.html`).

    The text is the main text, or Markdown with `markdown=True`. Settings are those of `pith.extract`.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def lazy_load_data(self, path: Union[str, "os.PathLike[str]"], **settings: Any) -> Iterator[Document]:
        """One document after the other."""
        for text, metadata in load(path, **{**self.settings, **settings}):
            yield Document(text=text, metadata=metadata, id_=metadata["id"])
