"""datatrove: a reader of archives and an extractor (needs `datatrove`).

    LocalPipelineExecutor([PithWarcReader("crawl/pages"), JsonlWriter("docs")], tasks=4)
"""

from __future__ import annotations

from typing import Any, Dict, Iterator

from datatrove.pipeline.extractors.base import BaseExtractor
from datatrove.pipeline.readers.base import BaseDiskReader
from datatrove.utils.typeshelper import StatHints

from . import _pith, extract, shards


class PithWarcReader(BaseDiskReader):  # type: ignore[misc]
    """Reads archives and extracts their pages in one step: the bytes and the address of a page are needed for both.

    Every document of `pith extract` becomes one of datatrove, with its text, its id, and its other fields as metadata. What
    was damaged is counted as `damaged`. `settings` are those of `pith.extract`; all else is as in datatrove's readers.
    """

    name = "pith"

    def __init__(self, data_folder: Any, *arguments: Any, settings: Any = None, **more: Any) -> None:
        super().__init__(data_folder, *arguments, **more)
        self.settings: Dict[str, Any] = dict(settings or {})

    def read_file(self, filepath: str) -> Iterator[Any]:
        """The documents of one archive."""
        with self.data_folder.open(filepath, "rb") as file:
            reader = _pith.read_warc(shards.NamedStream(file, filepath))
            for number, document in enumerate(shards.documents_of(reader, **self.settings)):
                found = self.get_document_from_dict(document.to_dict(), filepath, number)
                if found:
                    yield found
            self.stat_update("damaged", value=reader.damage.n_damaged)


class PithExtractor(BaseExtractor):  # type: ignore[misc]
    """The main content of documents whose text is HTML and whose metadata may have a `url`.

    It needs no process of its own, as datatrove's extractors do: time and memory are bounded. What else is found is
    added to the metadata.
    """

    name = "pith"

    def __init__(self, timeout: float = 30.0, **settings: Any) -> None:
        super().__init__(timeout)
        self.settings = settings

    def extract(self, text: str) -> str:
        """The main text of a page."""
        return extract(text, time_limit=self.timeout, **self.settings).text

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Every document with its main text; those without any are dropped."""
        for page in data:
            self.stat_update(StatHints.total)
            with self.track_time():
                url = page.metadata.get("url")
                try:
                    document = extract(page.text, url, time_limit=self.timeout, **self.settings)
                except TimeoutError:
                    self.stat_update("timeout")
                    continue
                fields = document.to_dict()
                page.text = fields.pop("text")
                for name in ("id", "url", "fetched_at", "source"):
                    fields.pop(name)
                page.metadata.update(fields)
            if page.text and not document.error_page:
                self.stat_update("extracted", StatHints.forwarded)
                self.update_doc_stats(page)
                yield page
            else:
                self.stat_update(StatHints.dropped)
