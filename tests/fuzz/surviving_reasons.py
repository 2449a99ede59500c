"""Why nobody misses an op that was left out, as the emulator says that it saw, and the list of those ops. Its races are told by happens-before, in
two orders of threads: where it says nothing, every pair of accesses that conflict on these inputs is still ordered. Which pairs the op was between,
and what orders those, it says of each."""
import collections
import re
import textwrap

# (what the emulator says, how much that says, what it means); the first that fits counts.
CLASSES = [
    (r"but memory ends otherwise", 8, "The emulator lacks a check: it should have told of that."),
    (r"ordered by .*, too", 2,
     "Two threads meet in a byte across the op, and were not ordered when the second one passed it. But they are before they meet: by what is done at "
     "the place named. (Of a predicate: in a byte of an access that is made without it. Any bits are read and written there, and in memory all ends as "
     "before.)"),
    (r"what .* began is waited for later, too", 2,
     "It was in flight at the op. A later wait comes before it is used."),
    (r"another fence shows what was written, too", 2,
     "The tensor core, or unit, uses what was written before the fence; the writer, or the one that uses it, passes another one."),
    (r"ordered before, by .*", 1,
     "Two threads meet in a byte across the op, but what is done at the place named had ordered them when the second one passed it."),
    (r"nobody uses what .* began", 1,
     "It was in flight at the op, and nobody uses it, nor what it read."),
    (r"nothing is in flight", 0,
     "Nothing that the op waits for, or puts into a group, was begun before it and not waited for. A wgmma_wait keeps the sums in registers, too, which "
     "ptxas wants."),
    (r"nothing that it shows is used", 0,
     "The tensor core, or unit, uses nothing that was written before the fence and not shown by an earlier one."),
    (r"no two threads meet across it", 0,
     "No byte that a thread accesses behind the op was accessed last before it by another thread, one of them writing: on these inputs nobody uses what "
     "it could order."),
    (r"what others do as well matters to nobody", 0,
     "No access that is made without the condition is to a byte that another thread accesses, one of them writing; and though any bits are read and "
     "written by it, in memory all ends as before."),
    (r"others have registers enough", 0,
     "The warpgroups that take more by setmaxnreg have enough of what the block begins with."),
    (r"it holds in every call", 0,
     "The condition is made of constants and of where its thread is, and so are those that it is reached under. So one launch shows all its values: it "
     "is always true."),
    (r"it holds for all who come to it", 0,
     "The condition is true with the sizes of each line that comes to it, and with smaller ones."),
    (r"nobody comes to it", 0,
     "No line comes to where it stands: to a variant for other arguments, or a branch."),
]
UNSAID = "not said why"


def class_of(evidence):
    """Its number, from 0 on; one more than the last where it fits none."""
    return next((i for i, (pattern, _, _) in enumerate(CLASSES) if re.fullmatch(pattern, evidence)), len(CLASSES))


def strength_of(evidence):
    place = class_of(evidence)
    return CLASSES[place][1] if place < len(CLASSES) else -1


def plain(evidence):
    """Without folders and columns."""
    return re.sub(r"(?:[^\s:]*/)?([^\s/:]+:\d+):\d+", r"\1", evidence)


def name_of(place):
    if place == len(CLASSES):
        return UNSAID
    return CLASSES[place][0].replace(".*", "...")


def lineless(text):
    """What stays when lines are put into the program."""
    return re.sub(r" in line \d+| of [^\s:]+:\d+$", "", text)


def read_list(path):
    """The entries of a list: {(class, text without lines): how many there are}."""
    entries, name = collections.Counter(), None
    with open(path) as lines:
        for line in lines:
            heading = re.match(r"(\S.*?) \(\d+\): ", line)
            found = re.match(r"    (.*?)(?: \((\d+)\))?(?: <.*>)?$", line.rstrip("\n"))
            if heading:
                name = heading[1]
            elif found:
                entries[name, lineless(found[1])] += int(found[2] or 1)
    return entries


def write_list(path, entries, tally):
    """Entries: {(class, text): the evidence of each}."""
    with open(path, "w") as out:
        out.write("# What tests/fuzz/fault_injection.py --write found: ops that a program of tests/exec came to, and that it did not miss; under what the\n"
                  "# emulator says of why. Where it names a place, that stands in <>.\n")
        for line in tally:
            out.write("\n".join(textwrap.wrap(line, 138, initial_indent="# ", subsequent_indent="#   ")) + "\n")
        for place in range(len(CLASSES) + 1):
            rows = sorted((text, found) for (name, text), found in entries.items() if name == name_of(place))
            if not rows:
                continue
            why = CLASSES[place][2] if place < len(CLASSES) else "Found by an emulator that did not say."
            out.write(f"\n{name_of(place)} ({sum(len(found) for _, found in rows)}): {why}\n")
            for text, found in rows:
                places = sorted({at for evidence in found for at in re.findall(r"[^\s/:]+:\d+", evidence)})
                out.write(f"    {text}" + (f" ({len(found)})" if len(found) > 1 else "") + (f" <{', '.join(places)}>" if places else "") + "\n")
