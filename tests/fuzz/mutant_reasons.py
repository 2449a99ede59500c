"""Why nobody misses an op that was left out: by what it is, and what the compiler says that it was put there for. The emulator's races are told
by happens-before, in two orders of threads: where it says nothing, every pair of accesses that conflict on these inputs is still ordered."""
import re

# (name, what it is for, why it may be idle); the first that fits counts.
REASONS = [
    ("own elements", r"barrier \(.*(element_|gather|put|atomic)",
     "Elements at indices of the threads' own, which the compiler doesn't follow: on these inputs each thread met elements that it alone met, or "
     "none. Other indices need the barrier."),
    ("copies of a thread's own", r"barrier \((?!.*element_).*behind copy_async",
     "Each thread reads what it copied itself, and has waited for that: the copy's layout is the lowering's, not known where barriers are placed."),
    ("other rows", r"barrier \((store|load) .*behind (store|load) ",
     "Tiles of one tensor, at places or of strides that are known only at run time: on these inputs they have no element in common, or each thread "
     "meets its own."),
    ("the same thread or round", r"barrier \(",
     "The two accesses that it is for meet in no element by two threads on these inputs: rows that are a thread's own for this extent, the first "
     "round of a loop that has no second, bytes that were placed in one another and are not both used; or a barrier of another pair comes between."),
    ("asked for", r"(barrier|cluster_|grid_sync)",
     "Written in the program, or by a function of its dialect for any use of it: behind T.tma_copy before somebody else arrives (here every thread "
     "arrives itself, the one that said what to wait for among them), before the next block's first use of memory that this input has none of, at the "
     "end of a loop of one round."),
    ("a ring's first rounds", r"(mbarrier_wait|mbarrier_arrive|mbarrier_expect|mbarrier_complete|warp_sync|cp_async_arrive|predicate of mbarrier_)",
     "A slot's or barrier's first phase: nobody waited for it before, or nobody waits for it again, as the loop has no more rounds than the ring has "
     "slots. Of an "
     "mbarrier_wait: another thread's wait, and a barrier behind it, come first. More rounds need them."),
    ("nothing under way", r"(copy_wait|copy_commit|wgmma_wait|tensor_wait|tensor_commit)",
     "Nothing was under way: the loop's last rounds begin no copy, a wait for all follows that needs no groups, or the product before a loop that has "
     "not begun (that wait keeps the sums in registers, which ptxas wants). Or what was under way reads memory that nobody writes again."),
    ("fenced again", r"fence_async",
     "The same threads pass another fence before the tensor core, or unit, uses what they wrote; or on these inputs it does not use it."),
    ("what is read is not used", r"predicate of (ld|cp_)",
     "A read of memory that is there, whose value nobody uses, or that a select replaces; or a number that another thread of the tile has too."),
    ("the same number again", r"predicate of (st|atom)",
     "What the other threads would write is written again, before a barrier, by the one that has to; or lies in memory that nobody reads."),
]


def reason_of(what):
    return next(name for name, pattern, _ in REASONS if re.match(pattern, what))


def read_list(path):
    """The entries of a list, with how many there are of each."""
    entries = {}
    with open(path) as lines:
        for line in lines:
            found = re.match(r"    (.*?)(?: \((\d+)\))?$", line.rstrip("\n"))
            if found:
                entries[found[1]] = int(found[2] or 1)
    return entries


def write_list(path, entries, tally):
    """Entries: {(what, text): count}."""
    with open(path, "w") as out:
        out.write("# What tests/fuzz/mutants.py --write found: ops that a program of tests/exec came to, and that it did not miss.\n")
        for line in tally:
            out.write(f"# {line}\n")
        for name, _, why in REASONS:
            rows = sorted((text, count) for (what, text), count in entries.items() if reason_of(what) == name)
            if not rows:
                continue
            out.write(f"\n{name} ({sum(count for _, count in rows)}): {why}\n")
            for text, count in rows:
                out.write(f"    {text}" + (f" ({count})\n" if count > 1 else "\n"))
