"""The program of the wheel."""

import os
import signal
import subprocess
import sys
import time

import pith
from conftest import page


def test_the_wheel_has_the_program():
    script = os.path.join(os.path.dirname(sys.executable), "pith")
    for command in ([script], [sys.executable, "-m", "pith"]):
        said = subprocess.run([*command, "--version"], stdout=subprocess.PIPE, check=True).stdout
        assert said.decode() == f"pith {pith.__version__}\n"


def test_exit_codes_and_messages_are_those_of_the_program(tmp_path):
    command = [sys.executable, "-m", "pith"]
    wrong = subprocess.run([*command, "extract", "--no-such-flag"], stderr=subprocess.PIPE)
    assert wrong.returncode == 2 and b"--no-such-flag" in wrong.stderr
    gone = subprocess.run([*command, "extract", str(tmp_path / "gone.html")], stderr=subprocess.PIPE)
    assert gone.returncode == 1 and b"no such file" in gone.stderr


def test_the_command_in_a_manifest_is_the_one_that_was_typed(archives, tmp_path, pith_program):
    pith_program("extract", archives, "--out", tmp_path / "docs", "--jobs", "1", "--quiet")
    manifest = (tmp_path / "docs" / "manifest.json").read_text()
    assert f'"command": "pith extract {archives} --out {tmp_path}/docs"' in manifest


def test_ctrl_c_ends_the_program_with_its_code(tmp_path):
    for number in range(3000):
        (tmp_path / f"{number}.html").write_bytes(page("Rain", more="<p>It rained on and on.</p>" * 2000))
    command = [sys.executable, "-m", "pith", "extract", str(tmp_path), "--out", str(tmp_path / "docs")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        while not (tmp_path / "docs" / "manifest.json").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        assert b"Traceback" not in said
    finally:
        process.kill()
