# What SECURITY.md says of how deep texts may nest is so: as many are taken, one more is refused.
cd $TMP
limit() { sed -nE "s/^\| $1[^|]*\| ([0-9]+)[^|]*\|.*/\1/p" $TILE_ROOT/SECURITY.md; }
repeat() { printf "%$2s" '' | sed "s/ /$1/g"; }
look() { # WHAT COUNT
    $TILEC check deep.tile > said 2>&1 && echo "$1: $2 are taken" || echo "$1: $2: $(grep -o 'error: .*' said | head -1)"
}
levels=$(limit 'operators, calls, subscripts and statements')
for delta in -2 -1; do # two levels are those of the statement and of the innermost operand
    count=$((levels + delta))
    for form in '1 + ' '- ' 'not ' '1 ** ' '1 if 0 else ' 'lambda: '; do echo "x = $(repeat "$form" $count)1" > deep.tile; look "$form" $count; done
    for form in '()' '[0]' '.a'; do echo "x = str$(repeat "$form" $count)" > deep.tile; look "$form" $count; done
done
brackets=$(sed -nE 's/^\| brackets and blocks[^|]*\| ([0-9]+) brackets, ([0-9]+) blocks.*/\1/p' $TILE_ROOT/SECURITY.md)
blocks=$(sed -nE 's/^\| brackets and blocks[^|]*\| ([0-9]+) brackets, ([0-9]+) blocks.*/\2/p' $TILE_ROOT/SECURITY.md)
for count in $brackets $((brackets + 1)); do echo "x = $(repeat '(' $count)1$(repeat ')' $count)" > deep.tile; look brackets $count; done
for count in $blocks $((blocks + 1)); do
    for ((i = 0; i < count; i++)); do echo "$(repeat ' ' $i)if 1:"; done > deep.tile
    echo "$(repeat ' ' $count)x = 1" >> deep.tile
    look blocks $count
done
calls=$(limit 'depth of calls')
for count in $((calls - 1)) $((calls + 1)); do
    printf 'def f(n):\n    return n if n <= 1 else f(n - 1)\n\nx = f(%d)\nassert x\n' $count > deep.tile
    printf 'import tilus\nclass K(tilus.Script):\n    def __init__(self, n):\n        self.n = n\n    def __call__(self):\n        self.attrs.blocks = self.n\n        self.attrs.warps = 1\nk = K(x)\n' >> deep.tile
    look calls $count
done
