# Each op that a typed kernel may hold has a rule by which it is differentiated, and a test of that, or is known to have none: exec/gradients_ops.table.
cd $TILE_ROOT/tests/exec
table=gradients_ops.table
defs=$TILE_ROOT/compiler/ir/ops.def
rows=$TILE_ROOT/compiler/passes/grad/adjoints.def
export TILE_DEVICE=emulator LC_ALL=C

# Of the op table: those of all stages, or before laying out, and not of the host or a thread alone.
sed -nE 's/^OP\(([a-z0-9_]+), .*, [A-Z_| ]*, (TILE|TYPED|UNSYNCED|BOTH)( \| [A-Z]+)*, ".*/\1/p' $defs | grep -vxE 'st|ld' | sort > $TMP/ops
grep -v '^#' $table | cut -d' ' -f2 | sort > $TMP/told
diff $TMP/ops $TMP/told
sed -nE 's/^(FLAT|ELEMENTWISE|CHOOSING|ADJOINT|MOVING)\(([a-z_]+)\)$/\2/p' $rows | sort > $TMP/rows
grep -E '^(rule|staged|later convert)' $table | cut -d' ' -f2 | sort | diff $TMP/rows -

# The tests hold the ops that they are named for: in the kernels that are differentiated, not in the gradients.
grep '^rule ' $table | cut -d' ' -f3- | sort -u | while read -r file call; do
    $TILEC run --print-after=promote $file.tile "$call" 2>&1 >/dev/null | awk '/^kernel @/ { own = $2 !~ /_grad/ } own' > $TMP/ir || echo "$file: $call fails"
    grep -F " $file $call" $table | grep '^rule ' | while read -r word op rest; do
        grep -qE "(^ *|= )$op( |$)" $TMP/ir || echo "$file: $call has no $op"
    done
done
grep '^staged ' $table | while read -r word op file call; do $TILEC run $file.tile "$call" > /dev/null || echo "$file: $call fails"; done
grep '^refused ' $table | while read -r word op; do
    grep -qE "^OP\\($op, .*\\bWRITES\\b" $defs && continue
    grep -qF "cannot go through '$op'" $TILE_ROOT/tests/golden/errors/not_differentiable.expected || echo "nothing shows that $op is refused"
done
grep '^later ' $table | while read -r word op; do grep -rlE "OP_$op\b" $TILE_ROOT/compiler/eval | sed "s/^/$op: /"; done
