"""datatrove: warcio, trafilatura (favour_precision), JSON lines; prints the number of pages it was given."""

import os
import sys

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.writers import JsonlWriter


def main():
    work, files = sys.argv[1], [os.path.abspath(path) for path in sys.argv[2:]]
    os.makedirs(f"{work}/in", exist_ok=True)
    for number, path in enumerate(files):
        os.symlink(path, f"{work}/in/{number:03}-{os.path.basename(path)}")
    pipeline = [
        WarcReader(f"{work}/in", glob_pattern="*"),
        Trafilatura(favour_precision=True),
        JsonlWriter(f"{work}/out"),
    ]
    executor = LocalPipelineExecutor(pipeline, tasks=1, workers=1, logging_dir=f"{work}/logs")
    stats = executor.run()
    print(stats.stats[0].stats["documents"].total)


if __name__ == "__main__":
    main()
