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


def serve(extract):
    """Answers each page with what `extract(html, url)` gives; an exception is an empty text."""
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
        print(json.dumps(answer), flush=True)
