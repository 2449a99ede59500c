# LLVM: a select of 0 around a shift of 64 bits by what may be too far. PTX shifts by 32 bits of the amount, and all others count.
needs llc
cat > $TMP/shift.ll <<'END'
target triple = "nvptx64-nvidia-cuda"
define i64 @shift(i64 %a, i64 %b) {
  %fits = icmp ult i64 %b, 64
  %shifted = shl i64 %a, %b
  %result = select i1 %fits, i64 %shifted, i64 0
  ret i64 %result
}
END
$LLC -mcpu=sm_90 $TMP/shift.ll -o $TMP/shift.ptx && grep -q shl.b64 $TMP/shift.ptx &&
  { grep -qE 'setp|min' $TMP/shift.ptx && echo "LLVM looks at all of the amount: quirk_shift_wide is not needed" || echo "LLVM forgets the amount's upper half"; }
