#!/usr/bin/env python3
"""long.py [--seconds N] [--slice N] [--jobs N] [--seed N] [--corpus FOLDER] [--add FILE --commit NAME] FUZZERS [TARGET...]: seconds or hours of fuzzing.

Gives each of the targets built in FUZZERS (build/fuzz) N seconds, a slice at a time, one target after the other, in so many processes
at a time. Stopped by ^C, or a SIGTERM, it ends with the rows of what was done. What they find is kept in FOLDER/TARGET, what crashes in FOLDER/TARGET-*. Prints, after each slice, a row
a target: CPU hours, executions, places covered before and after (libFuzzer's "cov"), faults. --add: and writes these
rows to a file, whose sums stand in tests/fuzz/README.md."""
import argparse
import base64
import datetime
import gzip
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = ["parse", "eval", "ir", "tune", "cache", "object"]
SEEDS = {"parse": ["exec", "language", "golden/syntax"], "eval": ["exec", "golden/eval"], "ir": ["golden/passes"]}
DONE = re.compile(r"^#\d+\s+(INITED|DONE)\s+cov: (\d+)", re.M)
PATIENCE = 20  # seconds
UNITS = re.compile(r"stat::number_of_executed_units:\s+(\d+)")


class Total:
    def __init__(self):
        self.seconds, self.executions, self.first, self.last, self.faults = 0.0, 0, 0, 0, 0


def command(options, target, seconds):
    folders = [os.path.join(ROOT, "tests", folder) for folder in [f"fuzz/corpus/{target}"] + SEEDS.get(target, [])]
    seeds = [folder for folder in folders if os.path.isdir(folder)]
    words = os.path.join(options.fuzzers, target + ".dict")
    return ([os.path.join(options.fuzzers, target), f"-max_total_time={seconds:.0f}", f"-timeout={options.timeout}", "-rss_limit_mb=2048",
             "-max_len=8192", f"-seed={options.seed}", "-reload=1", "-print_final_stats=1", f"-artifact_prefix={options.corpus}/{target}-"]
            + ([f"-dict={words}"] if os.path.exists(words) else []) + [os.path.join(options.corpus, target)] + seeds)


def rows_of(options, totals):
    date = datetime.date.today().isoformat()
    return "".join(f"| {date} | {options.commit} | {target} | {t.seconds / 3600:.2f} | {t.executions} | {t.first} | {t.last} | {t.faults} |\n"
                   for target, t in totals.items() if t.seconds)


class Running:
    """The fuzzers that run, each of which ends by itself when it is asked to, or is ended where its input takes too long; none is begun
    then."""

    def __init__(self):
        self.processes, self.is_over = set(), False

    def begin(self, words, log):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        self.processes.add(process)
        return process

    def end(self, *_):
        self.is_over = True
        self.signal_all(signal.SIGUSR1)
        patience = threading.Timer(PATIENCE, self.signal_all, [signal.SIGKILL])
        patience.daemon = True
        patience.start()

    def signal_all(self, number):
        for process in list(self.processes):
            process.send_signal(number)


def run(options, target, seconds, total, lock, running):
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = running.begin(command(options, target, seconds), log)
        _, status, usage = os.wait4(process.pid, 0)
        running.processes.discard(process)
        process.returncode = status
        log.seek(0)
        text = log.read()
    places = [int(found[1]) for found in DONE.findall(text)]
    units = UNITS.search(text)
    with lock:
        total.seconds += usage.ru_utime + usage.ru_stime
        total.executions += int(units[1]) if units else 0
        if places:
            total.first = total.first or places[0]
            total.last = max(total.last, places[-1])
        # one that had not begun, or that was not done with an input
        if status and not (running.is_over and status in (signal.SIGUSR1, signal.SIGKILL)):
            total.faults += 1
            print(f"{target}: status {status}: {what_failed(text)}", flush=True)


def what_failed(text):
    """The end of a fuzzer's log: from the fault on its innermost frames, and the input, which may be the only copy."""
    fault = re.search(r"^\S+: internal error.*|^==\d+== ?ERROR.*|^\S+: runtime error.*", text, re.M)
    frames = text[fault.start():fault.start() + 4000] if fault else text[-3000:]
    wrote = re.search(r"Test unit written to (\S+)", text)
    if not wrote or not os.path.exists(wrote[1]):
        return frames
    with open(wrote[1], "rb") as unit:
        return f"{frames}\nthe input, by base64 -d | gunzip:\n{base64.b64encode(gzip.compress(unit.read())).decode()}"


def slices(targets, seconds, length):
    """(target, its seconds), each target once, then each once more, until every one has had its seconds."""
    while seconds > 0:
        yield from ((target, min(length, seconds)) for target in targets)
        seconds -= length


def work(options, turns, totals, lock, running):
    while not running.is_over:
        with lock:
            turn = next(turns, None)
        if turn is None:
            return
        target, seconds = turn
        run(options, target, seconds, totals[target], lock, running)
        with lock:
            print(rows_of(options, totals), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fuzzers")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--seconds", type=float, default=3600, help="for each target")
    parser.add_argument("--slice", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=30, help="seconds for one input")
    parser.add_argument("--seed", type=int, default=0, help="of libFuzzer's choices; 0: another one each time")
    parser.add_argument("--corpus")
    parser.add_argument("--add")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    options.corpus = options.corpus or os.path.join(options.fuzzers, "corpus")
    totals, lock = {target: Total() for target in options.targets}, threading.Lock()
    for target in totals:
        os.makedirs(os.path.join(options.corpus, target), exist_ok=True)
    turns = slices(list(totals), options.seconds, options.slice)
    running = Running()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.end)
    workers = [threading.Thread(target=work, args=(options, turns, totals, lock, running)) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if options.add:
        with open(options.add, "a") as table:
            table.write(rows_of(options, totals))
    return 1 if any(t.faults for t in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
