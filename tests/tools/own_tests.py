"""The origin systems' own tests through the package for Python, as they stand, each file in a process of its own (tilelang_tests.py,
warp_tests.py, silent.py)."""

import collections
import json
import os
import signal
import sys
import tempfile


class Recorder:
    """A pytest plugin: what became of each test, as a line of JSON when it ends. `takes` says which tests are run; `begin` is called first."""

    def __init__(self, path, skipped, takes, begin):
        self.path, self.skipped, self.takes, self.begin = path, skipped, takes, begin

    def say(self, **what):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")

    def pytest_configure(self, config):
        if self.begin:
            self.begin()

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid not in self.skipped and (not self.takes or self.takes(item))]

    def pytest_runtest_logstart(self, nodeid):
        self.say(id=nodeid, outcome="died", text="")

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = "" if report.outcome != "failed" else crash.message if crash else str(report.longrepr)
            self.say(id=report.nodeid, outcome=report.outcome, text=text[:2000])

    def pytest_collectreport(self, report):
        if report.failed:
            self.say(id=f"{report.nodeid}::", outcome="failed", text=str(report.longrepr)[-2000:])


def run_file(file, path, options, skipped, takes, begin):
    """In a process of its own, which does not come back."""
    log = os.open(path + ".log", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1), os.dup2(log, 2)
    os.setsid()
    signal.alarm(getattr(options, "whole", 0))
    import tilec.__main__

    tilec.__main__.enter()
    import pytest

    words = ["-s", "-p", "no:cacheprovider", "-p", "no:warnings", "--rootdir=.", "--tb=short", f"--timeout={options.seconds}", "--timeout-method=thread", file]
    os._exit(int(pytest.main(words, plugins=[Recorder(path, skipped, takes, begin)])))


def results(path):
    found = {}
    for line in open(path, encoding="utf-8") if os.path.exists(path) else ():
        told = json.loads(line)
        if found.get(told["id"], {}).get("outcome") != "failed":
            found[told["id"]] = told
    return found


def run(files, options, skipped=frozenset(), takes=None, begin=None):
    """What became of each test: of so many files at a time (`jobs`), for so many seconds a test, and a file (`whole`). A process that died is
    begun again behind the test that it died in."""
    folder = tempfile.mkdtemp()
    waiting, running, found = list(enumerate(files)), {}, {}
    while waiting or running:
        while waiting and len(running) < options.jobs:
            number, file = waiting.pop(0)
            path = os.path.join(folder, str(number))
            known = skipped | set(results(path))
            pid = os.fork()
            if not pid:
                try:
                    run_file(file, path, options, known, takes, begin)
                finally:
                    os._exit(99)
            running[pid] = number, file, path, known
        pid, status = os.wait()
        number, file, path, known = running.pop(pid)
        now = results(path)
        is_over = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGALRM)
        if not is_over and any(one["outcome"] == "died" and test not in known for test, one in now.items()):
            waiting.append((number, file))
        found.update(now)
        print(file, dict(collections.Counter(one["outcome"] for one in now.values())), file=sys.stderr, flush=True)
    return found
