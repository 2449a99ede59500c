"""compare_eval.py TILEC FILE: runs FILE by `TILEC run` and by this Python; both must come to its end,
and their output must be the same."""
import difflib
import subprocess
import sys

tilec, file = sys.argv[1:]
ours = subprocess.run([tilec, "run", file], capture_output=True, text=True)
theirs = subprocess.run([sys.executable, file], capture_output=True, text=True)
difference = difflib.unified_diff(theirs.stdout.splitlines(), ours.stdout.splitlines(), "python", "tilec", lineterm="")
print("\n".join(difference))
print(ours.stderr, theirs.stderr)
sys.exit(ours.stdout != theirs.stdout or ours.returncode != 0 or theirs.returncode != 0)
