"""A thousand sessions that stream 50 deltas a second each through one process: no loss, 64 KiB."""

import json
import subprocess
import sys
from pathlib import Path


def test_a_thousand_sessions_at_once(capsys):
    script = Path(__file__).with_name("many_sessions.py")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, script, "1000", "4"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    with capsys.disabled():
        print(f"\n1,000 sessions: {told}", end="")
    assert told["lost"] == 0
    assert told["kib_peak"] <= 64
