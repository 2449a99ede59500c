# edits.sh TREE: adds one of each of what HACKING.md has recipes for, by those recipes and no other places: a tile op in the three
# dialects, a pass, a diagnostic, a target, an option. Each edit names a file, a line to stand behind, as a regular expression of
# awk, and a text; where a table gets another column, its row here gets one. add_one_of_each.sh builds the tree and tries them.
set -eu
cd "$1"

# behind FILE REGEX, before FILE REGEX: standard input goes behind, or before, the first line that matches. An anchor that is no
# longer there is an error.
insert() { # WHERE FILE REGEX
    ADDED=$(cat; echo .) ANCHOR=$3 LC_ALL=C awk -v where="$1" '
        BEGIN { anchor = ENVIRON["ANCHOR"] } # -v would take its backslashes
        function add() { printf "%s", substr(ENVIRON["ADDED"], 1, length(ENVIRON["ADDED"]) - 2) "\n"; done = 1 }
        !done && $0 ~ anchor && where == "before" { add() }
        { print }
        !done && $0 ~ anchor { add() }
        END { if (!done) exit 3 }' "$2" >"$2.new" || { echo "$2: no line matches: $3"; rm -f "$2.new"; exit 1; }
    mv "$2.new" "$2"
}
behind() { insert behind "$@"; }
before() { insert before "$@"; }

# ---- a tile op: the row, its rule, how it becomes ops of a thread, what the reference interpreter computes
behind compiler/ir/ops.def '^OP\(abs,' <<'E1'
OP(tile_abs_diff, "N", "NN", (a, b), (), 0, PURE | ELEM, TILE, "|a - b|, which of integers is computed without overflow")
E1
behind compiler/ir/verify/rules.c '\[OP_abs\] = check_arithmetic' <<'E1'
    [OP_tile_abs_diff] = check_arithmetic,
E1
before compiler/passes/lower/lower.c '^/\* ---- other names ---- \*/' <<'E1'
/* The larger without the smaller, as the difference of two integers may not fit in their type. */
static Value *absolute_difference(Lower *lower, Value *a, Value *b)
{
    if (dtype_is_float(a->type->dtype))
        return build1(&lower->at, OP_abs, build2(&lower->at, OP_sub, a, b));
    return build2(&lower->at, OP_sub, build2(&lower->at, OP_max, a, b),
                  build2(&lower->at, OP_min, a, b));
}

static void lower_tile_abs_diff(Lower *lower, Op *op)
{
    Value *result = &op->results[0];
    if (result->type->kind != TYPE_TILE) {
        Value *a = lower_scalar(lower, operand(op, a)), *b = lower_scalar(lower, operand(op, b));
        map_set(lower->arena, &lower->scalars, result, absolute_difference(lower, a, b));
        return;
    }
    Value **a = lower_tile(lower, operand(op, a)), **b = lower_tile(lower, operand(op, b));
    Value **registers = lower_new_tile(lower, result);
    for (int reg = 0; reg < register_count(result); reg++)
        registers[reg] = absolute_difference(lower, a[reg], b[reg]);
}

E1
behind compiler/passes/lower/lower.c '\[OP_cast\] = lower_cast' <<'E1'
    [OP_tile_abs_diff] = lower_tile_abs_diff,
E1
behind tests/reference/arithmetic.c 'case OP_div: return a / b;' <<'E1'
    case OP_tile_abs_diff: return fabs(a - b);
E1
behind tests/reference/arithmetic.c 'case OP_floordiv: return divide_floor' <<'E1'
    case OP_tile_abs_diff: return less ? b - a : a - b;
E1
behind tests/reference/arithmetic.c '^    case OP_add:$' <<'E1'
    case OP_tile_abs_diff:
E1

# ---- the same: what the language calls it, in __core__ and in each dialect
behind compiler/eval/surface/builtins.def '^CORE\("absolute"' <<'E1'
CORE("tile_abs_diff", "a, b, out=", core_tile_abs_diff, "the magnitude of the difference of two numbers or tiles")
E1
before compiler/eval/surface/tiles.c '^Object \*core_sqrt' <<'E1'
Object *core_tile_abs_diff(Eval *eval, const Bound *bound)
{
    Value *a, *b;
    if (!stage_pair(eval, bound->values[0], bound->values[1], bound->at, &a, &b)) return NULL;
    if (a->type->dtype == DTYPE_b1) return FAIL(eval, boolean_difference, bound->at);
    return result_deliver(eval, build2(&eval->builder, OP_tile_abs_diff, a, b), bound->values[2]);
}

E1
behind stdlib/tilus/script.tile '^        return core.maximum\(lhs, rhs, out\)' <<'E1'

    @staticmethod
    def tile_abs_diff(lhs, rhs, out=None):
        return core.tile_abs_diff(lhs, rhs, out)
E1
behind stdlib/tilelang/numbers.tile '^    return core.absolute\(x\) if not core.is_static' <<'E1'


def tile_abs_diff(a, b):
    return core.tile_abs_diff(a, b)
E1
behind stdlib/tilelang/language.tile '^from tilelang.numbers import \(' <<'E1'
    tile_abs_diff,
E1
before stdlib/warp/tiles.tile '^# out \+= a @ b, or a new tile' <<'E1'
# The magnitude of the difference, element by element.
def tile_abs_diff(a, b):
    return tile_map(lambda x, y: core.tile_abs_diff(x, y), a, b)


E1
behind stdlib/warp/__init__.tile '^from warp.tiles import \(' <<'E1'
    tile_abs_diff,
E1

# ---- a pass: the row, the file, a test named for it
behind compiler/passes/passes.def '^PASS\(matrix,' <<'E1'
PASS(count_dots, "TYPED SSA", "", "", "RANGES UNIFORMITY", "says how many products a kernel has; before lowering, which makes instructions of them")
E1
cat >compiler/passes/pipeline/count_dots.c <<'E1'
/* count_dots.c: a remark that says how many products a launch has. Needs and leaves a TYPED kernel. */
#include "passes/pass.h"

static void count(Op *op, void *context)
{
    int *dots = context;
    *dots += op->code == OP_dot;
}

bool pass_count_dots(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next) {
        int dots = 0;
        if (op->code != OP_launch) continue;
        region_visit(launch_region(op), count, &dots);
        kernel_remark(kernel, op->span, "products in this launch: %d", dots);
    }
    return true;
}
E1
passes=tests/golden/passes # a test named for it; the pass changes nothing
sed 's/--run=[a-z_]*/--run=count_dots/' $passes/matrix.ir >$passes/count_dots.ir
grep -v '^#' $passes/count_dots.ir >$passes/count_dots.expected

# ---- a diagnostic: the row and its page; core_tile_abs_diff reports it
behind compiler/base/diag.def '^DIAG\(E0423,' <<'E1'
DIAG(E0499, ERROR, boolean_difference, "booleans have no difference", "cast them to integers")
E1
cat >>compiler/base/explain.txt <<'E1'

== E0499
The difference of two numbers was asked for, and these are booleans.

Wrong:

    import tilus
    from tilus import float32, int32

    class K(tilus.Script):
        def __call__(self, n: int32):
            self.attrs.blocks = 1
            self.attrs.warps = 1
            x = self.tile_abs_diff(n > 1, n > 2)

    k = K()

Right:

    import tilus
    from tilus import float32, int32

    class K(tilus.Script):
        def __call__(self, n: int32):
            self.attrs.blocks = 1
            self.attrs.warps = 1
            x = self.tile_abs_diff(n, 2)

    k = K()
E1

# ---- a target: the row, and the help of --arch
before compiler/target/targets.def '^TARGET\(sm_89,' <<'E1'
TARGET(sm_87, "NVIDIA Jetson Orin", .number = 87, .ptx = 80, .sm_count = 16, .clock_mhz = 1300, .threads_per_sm = 1536,
       .blocks_per_sm = 16, .shared_bytes = 166912, .features = AMPERE, EVERY_CHIP)
E1
sed -i '/^OPTION(arch,/s/sm_86, /sm_86, sm_87, /' compiler/options.def

# ---- an option: the row, and where it is asked for
behind compiler/options.def '^OPTION\(list, ' <<'E1'
OPTION(count, "--count", FLAG, "", "opt: say how many passes there are")
E1
before compiler/command/opt.c '^static bool run_named' <<'E1'
static ExitStatus count_passes(Session *session)
{
    int count = 0;
    while (pass_name_at(count)) count++;
    const char *text = arena_printf(session->arena, "%d passes\n", count);
    write_output(session, "-", text, strlen(text));
    return session_status(session);
}

E1
behind compiler/command/opt.c '^    if \(options->list\) return list_passes' <<'E1'
    if (options->count) return count_passes(session);
E1
