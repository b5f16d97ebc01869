"""Page shards to document shards on a Spark cluster, byte for byte what `pith extract` makes of them.

    spark-submit --master spark://… pith_extract.py crawl/ archives/*.warc.gz --out docs

One shard is one task of one thread. All machines must see the inputs and the folder under the same paths. A task that is run
again, or twice at a time, does no harm; a job that is run again goes on where it stopped. The counts are printed as JSON.
"""

import argparse
import json

from pyspark.sql import SparkSession

from pith import methods
from pith import spark as pith_spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="archives, crawl folders, folders of archives")
    parser.add_argument("--out", required=True, metavar="DOCS", help="the folder to write document shards to")
    parser.add_argument("--method", choices=methods(), default="pith", help="the ranking that makes the summary")
    parser.add_argument("--sentences", type=int, default=3, metavar="N", help="sentences in a summary; 0 leaves it out")
    parser.add_argument("--markdown", action="store_true", help="write the main content as Markdown too")
    parser.add_argument("--favor", choices=["precision", "recall", "balance"], default="balance")
    parser.add_argument("--comments", choices=["auto", "keep", "drop"], default="auto")
    parser.add_argument("--rules", metavar="FILE", help="a TOML file with CSS selectors for some sites")
    parser.add_argument("--languages", metavar="TAGS", help="keep only documents in these languages, as en,pt")
    arguments = parser.parse_args()
    settings = {
        "method": arguments.method,
        "sentences": arguments.sentences,
        "markdown": arguments.markdown,
        "favor": arguments.favor,
        "comments": arguments.comments,
        "languages": arguments.languages.split(",") if arguments.languages else [],
    }
    if arguments.rules:
        with open(arguments.rules, encoding="utf-8") as file:
            settings["rules"] = file.read()
    session = SparkSession.builder.appName("pith extract").getOrCreate()
    try:
        counts = pith_spark.extract_shards(session, arguments.inputs, arguments.out, **settings)
    finally:
        session.stop()
    print(json.dumps({"counts": counts}))


if __name__ == "__main__":
    main()
