# Numbers of arrays of integers: every one that a type has, to the last digit, and none that it has not.
cd $TMP
: > empty.tile
export TILE_DEVICE=emulator
for line in "full((2,), 9007199254740993, int64)" "arange(2, int64, 9007199254740993)" "arange(3, int32, 0.5, 1.5)" "arange(3, uint8, 254)" \
  "full((2,), 1e19, uint64)" "full((2,), -1, uint64)" "full((2,), -1, uint64) // 10" "full((2,), -1, uint64)[0]" "full((2,), 9223372036854775807, uint64)[0]" \
  "full((2,), 300, uint8)" "full((2,), -129, uint8)" "full((2,), 1e30, int32)" "full((2,), math.nan, int32)" "arange(3, int32, 0.5, 1e10)" \
  "zeros(2, int8) + 300" "zeros(2, uint8) - 1" "full(2, 3, uint8) / 300" "zeros(2, int8) < 300" "300 == zeros(2, int8)" \
  "arange(1.5)" "arange()" "random(2, float32, seed=0.5)" "reference('sum', arange(3), -2)" \
  "family(full((2, 2), 3037000501, int64), 'numpy') @ full((2, 2), 3, int64)" "family(full((1, 1), 3037000501, int64), 'numpy') @ full((1, 1), 3037000501, int64)" \
  "family(full((2, 3), 2147483647, int32), 'torch') @ full((3, 1), 2147483647, int32)" "family(full((1, 2), -1, uint64), 'numpy') @ full((2, 1), 1, uint64)" \
  "allclose(full((2,), 9007199254740993, int64), full((2,), 9007199254740992, int64), 0, 0)" \
  "allclose(full((2,), 9007199254740993, int64), full((2,), 9007199254740992, float64))" \
  "allclose(full((2,), -1, uint64), full((2,), -2, uint64), 0, 0)" "allclose(zeros(2, int8) != 0, zeros(2, int8) == 0)"; do
  echo "== $line"; $TILEC run empty.tile "import math; print($line)" 2>&1 | grep -v '^ '
done
for line in "a[0] = 300" "a[:] = -200" "a[0] = 1e9" "a.fill_(256)" "a[0] = 255.9"; do
  echo "== $line"; $TILEC run empty.tile "a = zeros(2, uint8); $line; print(a)" 2>&1 | grep -v '^ '
done
