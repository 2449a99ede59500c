# LLVM: how many bits a pointer to shared memory has, if nothing is said.
needs llc
cat > $TMP/pointer.ll <<'END'
target triple = "nvptx64-nvidia-cuda"
define i32 @read(ptr addrspace(3) %p) {
  %value = load i32, ptr addrspace(3) %p
  ret i32 %value
}
END
for options in "" -nvptx-short-ptr; do
  $LLC -mcpu=sm_90 $options $TMP/pointer.ll -o - | grep -oE '\.b(32|64) +read_param_0' | head -1 | sed "s/ .*/ by '$options'/"
done
