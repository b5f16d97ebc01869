"""datatrove's MinHash in its four stages, 14 buckets of 8 hashes, 5-grams, 64 bits, English.

    python peer_datatrove.py DOCUMENTS.jsonl OUT.tsv WORK

OUT.tsv: the id of every document that goes; datatrove does not say which one it matched.
"""

import glob
import gzip
import json
import os
import sys

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.typeshelper import Languages


def main():
    source, out, work = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    config = MinhashConfig(
        hash_config=HashConfig(precision=64), num_buckets=14, hashes_per_bucket=8, n_grams=5
    )
    reader = lambda: JsonlReader(os.path.dirname(source), glob_pattern=os.path.basename(source))
    stages = [
        [reader(), MinhashDedupSignature(f"{work}/signatures", config=config, language=Languages.english)],
        [MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config)],
        [MinhashDedupCluster(f"{work}/buckets", f"{work}/remove", config=config)],
        [
            reader(),
            MinhashDedupFilter(f"{work}/remove", exclusion_writer=JsonlWriter(f"{work}/removed")),
            JsonlWriter(f"{work}/kept"),
        ],
    ]
    for number, stage in enumerate(stages):
        tasks = 14 if number == 1 else 1
        LocalPipelineExecutor(stage, tasks=tasks, workers=1, logging_dir=f"{work}/logs{number}").run()
    with open(out, "w") as removed:
        for path in glob.glob(f"{work}/removed/*.jsonl.gz"):
            with gzip.open(path, "rt") as lines:
                for line in lines:
                    removed.write(json.loads(line)["id"] + "\t\n")


if __name__ == "__main__":
    main()
