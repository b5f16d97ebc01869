"""What every extractor in Python needs to be a peer: JSON lines in and out, and its own clock around each call."""

import json
import sys
import time


def peak_rss_mb():
    """What /proc says: `ru_maxrss` would count what the process held before it became Python."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None


def serve(extract, **more):
    """Answers each page with what `extract(html, url)` gives; an exception is an empty text.

    Each further function answers under its name where the command line has it as a flag, outside of the clock: with
    `markdown=f` and `--markdown` the answer has what `f(html, url)` gives as `markdown`; a dictionary's values stand for
    themselves.
    """
    wanted = {name: function for name, function in more.items() if f"--{name}" in sys.argv}
    extract("<html><body><p>A page before the first.</p></body></html>", None)
    for line in sys.stdin:
        question = json.loads(line)
        begun = time.process_time()
        try:
            text = extract(question["html"], question.get("url"))
        except Exception as problem:
            print(f"{question['id']}: {problem!r}", file=sys.stderr)
            text = ""
        seconds = time.process_time() - begun
        answer = {"id": question["id"], "text": text or "", "seconds": seconds, "peak_rss_mb": peak_rss_mb()}
        for name, function in wanted.items():
            try:
                value = function(question["html"], question.get("url"))
            except Exception as problem:
                print(f"{question['id']}: {problem!r}", file=sys.stderr)
                value = None
            answer.update(value if isinstance(value, dict) else {name: value or ""})
        print(json.dumps(answer), flush=True)
