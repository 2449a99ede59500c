# What info refuses of an object, run does, too, before it loads it; and what it does not refuse can be loaded: numbers of tables, of
# relocations and of section headers changed at random, the same ones each time, and the file cut.
needs python3
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
$TILEC add_one.tile --arch=sm_80,emulator --ptxas=none -o whole.o
cat > damage.py <<'END'
import os, random, subprocess, sys

tilec, whole = os.environ["TILEC"], open("whole.o", "rb").read()


def is_refused(*words):
    done = subprocess.run([tilec, *words], capture_output=True, text=True, errors="replace", timeout=100)
    if done.returncode not in (0, 1, 2, 3):
        print("status", done.returncode, words, done.stderr)
    return "E0710" in done.stderr


def look(what, damaged):
    open("broken.o", "wb").write(damaged)
    by_info, by_run = is_refused("info", "broken.o"), is_refused("run", "--device=emulator", "broken.o", "print(1)")
    if by_info != by_run:
        print(f"{what}: refused by info: {by_info}, by run: {by_run}")
    return by_info


def changed(at, with_):
    return whole[:at] + with_ + whole[at + len(with_) :]


# An offset of a relocation, and a section of tables that would not be loaded.
sections = int.from_bytes(whole[40:48], "little")
headers = [whole[at : at + 64] for at in range(sections, sections + 64 * int.from_bytes(whole[60:62], "little"), 64)]
for i, header in enumerate(headers):
    kind, flags = int.from_bytes(header[4:8], "little"), int.from_bytes(header[8:16], "little")
    if kind == 4:
        look(f"an offset in section {i}", changed(int.from_bytes(header[24:32], "little") + 4, b"\x80"))
    if flags == 3 and kind == 1:
        look(f"the kind and flags of section {i}", changed(sections + 64 * i + 4, b"\x40\0\0\0\0"))
refused, chosen = 0, random.Random(7)
for number in range(30):
    if number % 3 == 0:
        damaged = whole[: chosen.randrange(4, len(whole))]
    elif number % 3 == 1:
        damaged = changed(chosen.randrange(1500, len(whole)), bytes([chosen.choice([0, 1, 0x7F, 0x80, 0xFF])]))
    else:
        damaged = changed(chosen.randrange(1500, len(whole) - 8), chosen.choice([b"\xff" * 8, b"\0" * 8]))
    refused += look(f"number {number}", damaged)
print("some are refused" if refused > 10 else refused)
END
python3 damage.py
