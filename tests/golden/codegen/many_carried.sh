# A loop that carries a matrix of 1024 numbers of a thread: of blocks that are cut for ptxas' sake the values that meet stay together.
cd "$TMP"
cat >factor.tile <<'END'
import warp as wp

ROWS = 32
matrix = wp.types.matrix(shape=(ROWS, ROWS), dtype=wp.float64)
vector = wp.types.vector(length=ROWS, dtype=wp.float64)


# Rows of a factor, one after the other, until one does not fit; then what solves the system with it.
@wp.kernel(enable_backward=False)
def factor(order: wp.array(dtype=int), a: wp.array2d(dtype=wp.float64), o: wp.array(dtype=wp.float64)):
    lower, found, given = matrix(wp.float64(0)), vector(wp.float64(0)), vector(wp.float64(1))
    count = int(0)
    while count < ROWS:
        if order[count] < -1:
            break
        fits = bool(True)
        last = found[0]
        for way in range(1):
            best = order[count]
            if best < 0 or count == ROWS:
                break
            row, rest = vector(wp.float64(0)), a[best, best]
            for i in range(count):
                part = a[best, i]
                for k in range(i):
                    part -= lower[i, k] * row[k]
                row[i] = part / lower[i, i]
                rest -= row[i] * row[i]
            if rest <= wp.float64(0):
                wp.atomic_add(o, 0, rest)
                fits = False
                break
            for i in range(count):
                lower[count, i] = row[i]
            lower[count, count] = wp.sqrt(rest)
            count += 1
        for back in range(count):
            i = count - 1 - back
            part = given[i]
            for k in range(i + 1, count):
                part -= lower[k, i] * found[k]
            found[i] = part / lower[i, i]
        if not fits or (found[0] > wp.float64(0) and wp.float64(1) - last / found[0] <= o[0]):
            break
    o[wp.tid()] = found[count - 1]
END
$TILEC factor.tile --arch=sm_90a --export "k = factor.compile(block_dim=32)" --ptxas=none --emit=ptx | grep -c "^\.visible \.entry"
