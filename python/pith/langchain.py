"""LangChain: a loader of archives, crawls and saved pages (needs `langchain-core`).

    PithLoader("crawl").lazy_load()
"""

from __future__ import annotations

import os
from typing import Any, Iterator, Union

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from .loading import load


class PithLoader(BaseLoader):
    """The documents of an archive, a crawl folder, a folder of archives, or a saved page (`.html`).

    `page_content` is the main text, or Markdown with `markdown=True`. Settings are those of `pith.extract`.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], **settings: Any) -> None:
        self.path = path
        self.settings = settings

    def lazy_load(self) -> Iterator[Document]:
        """One document after the other."""
        for text, metadata in load(self.path, **self.settings):
            yield Document(page_content=text, metadata=metadata, id=metadata["id"])
