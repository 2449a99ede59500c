"""The origin systems' own tests through the package for Python, as they stand, each file in a process of its own (tilelang_tests.py,
warp_tests.py, silent.py)."""

import collections
import hashlib
import json
import os
import signal
import sys
import tempfile
import time


class Claims:
    """Which tests of a file some process has begun, by files in a folder, and how many there are."""

    def __init__(self, folder):
        self.folder, self.total = folder, os.path.join(folder, "total")
        os.makedirs(folder, exist_ok=True)

    def count(self, number):
        with open(self.total, "w", encoding="utf-8") as file:
            file.write(str(number))

    def take(self, test):
        try:
            os.close(os.open(os.path.join(self.folder, hashlib.sha1(test.encode()).hexdigest()), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def left(self):
        """None before they are counted."""
        try:
            with open(self.total, encoding="utf-8") as file:
                return int(file.read() or 0) - len(os.listdir(self.folder)) + 1
        except FileNotFoundError:
            return None


class Recorder:
    """A pytest plugin: what became of each test, as a line of JSON when it ends. `takes` says which tests are run; `begin` is called first.
    It runs what no other process of the file has begun, from its `share` of the tests on."""

    def __init__(self, path, claims, share, skipped, takes, begin):
        self.path, self.claims, self.share, self.skipped, self.takes, self.begin = path, claims, share, skipped, takes, begin

    def say(self, **what):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")

    def pytest_configure(self, config):
        if self.begin:
            self.begin()

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid not in self.skipped and (not self.takes or self.takes(item))]
        self.claims.count(len(items))
        first = int(self.share * len(items))
        items[:] = items[first:] + items[:first]

    def pytest_runtestloop(self, session):
        if session.testsfailed:  # not collected
            return None
        for item, following in zip(session.items, [*session.items[1:], None]):
            if self.claims.take(item.nodeid):
                session._setupstate.teardown_exact(item)  # what a test before it left for one that another process runs
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        session._setupstate.teardown_exact(None)
        return True

    def pytest_runtest_logstart(self, nodeid):
        self.say(id=nodeid, outcome="died", text="")

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = "" if report.outcome != "failed" else crash.message if crash else str(report.longrepr)
            self.say(id=report.nodeid, outcome=report.outcome, text=text[:2000], seconds=round(report.duration, 2))

    def pytest_collectreport(self, report):
        if report.failed:
            self.say(id=f"{report.nodeid}::", outcome="failed", text=str(report.longrepr)[-2000:])


def run_file(file, path, options, number, *recorded):
    """In a process of its own, which does not come back."""
    log = os.open(path + ".log", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1), os.dup2(log, 2)
    os.setsid()
    limits = [limit for limit in (getattr(options, "whole", 0), options.end and max(1, int(options.end - time.time()))) if limit]
    signal.alarm(min(limits, default=0))
    gpus = [gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", getattr(options, "gpus", None) or "").split(",") if gpu]
    if gpus:  # each process begins with another one
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpus[(number + i) % len(gpus)] for i in range(len(gpus)))
    import tilec.__main__

    tilec.__main__.enter()
    import pytest

    words = ["-s", "-p", "no:cacheprovider", "-p", "no:warnings", "--rootdir=.", "--tb=short", f"--timeout={options.seconds}", "--timeout-method=thread", file]
    os._exit(int(pytest.main(words, plugins=[Recorder(path, *recorded)])))


class File:
    """A file and those who run its tests, a process each."""

    SHARES = (0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8)

    def __init__(self, name, folder):
        self.name, self.folder, self.running, self.begun = name, folder, 0, 0
        self.claims = Claims(os.path.join(folder, "claims"))

    def results(self):
        return {test: told for i in range(self.begun) for test, told in results(os.path.join(self.folder, str(i))).items()}

    def wants_more(self):
        left = self.claims.left()
        return bool(self.running) and left is not None and left > 3 * self.running

    def begin(self, number, options, *recorded):
        path = os.path.join(self.folder, str(self.begun))
        share = self.SHARES[self.begun % len(self.SHARES)]
        self.begun, self.running = self.begun + 1, self.running + 1
        pid = os.fork()
        if not pid:
            try:
                run_file(self.name, path, options, number, self.claims, share, *recorded)
            finally:
                os._exit(99)
        return pid, path


def results(path):
    found = {}
    for line in open(path, encoding="utf-8") if os.path.exists(path) else ():
        told = json.loads(line)
        if found.get(told["id"], {}).get("outcome") != "failed":
            found[told["id"]] = told
    return found


def run(files, options, skipped=frozenset(), takes=None, begin=None):
    """What became of each test: so many processes at a time (`jobs`), for so many seconds a test, a process (`whole`) and all (`all`). A
    process that died is begun again behind the test that it died in. When all files are begun, those with most tests left get more processes."""
    options.end = time.time() + options.all if getattr(options, "all", None) else None
    folder = tempfile.mkdtemp()
    all_files = [File(file, os.path.join(folder, str(i))) for i, file in enumerate(files)]
    waiting, running, number = list(all_files), {}, 0
    while waiting or running:
        is_late = options.end and time.time() > options.end
        while len(running) < options.jobs and not is_late:
            helped = sorted((file for file in all_files if file.wants_more()), key=lambda file: file.claims.left() / file.running) if not waiting else []
            file = waiting.pop(0) if waiting else helped[-1] if helped else None
            if not file:
                break
            pid, path = file.begin(number, options, skipped, takes, begin)
            running[pid], number = (file, path), number + 1
        if is_late:
            waiting.clear()
        pid, status = os.waitpid(-1, os.WNOHANG) if running else (0, 0)
        if not pid:
            time.sleep(0.1)
            continue
        file, path = running.pop(pid)
        file.running -= 1
        is_over = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGALRM)
        has_died = not is_over and any(one["outcome"] == "died" for one in results(path).values())
        if not file.running:
            if has_died and file.claims.left():
                waiting.append(file)
            else:
                print(file.name, dict(collections.Counter(one["outcome"] for one in file.results().values())), file=sys.stderr, flush=True)
    return {test: told for file in all_files for test, told in file.results().items()}
