# ptxas: a file that has no room for the whole cubin.
needs ptxas
{
  printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b64 %%p; .reg .b32 %%r;\nld.param.u64 %%p, [p];\n'
  for i in $(seq 0 4 252); do printf 'ld.global.u32 %%r, [%%p+%d];\nadd.s32 %%r, %%r, 1;\nst.global.u32 [%%p+%d], %%r;\n' $i $i; done
  printf 'ret;\n}\n'
} > $TMP/k.ptx
(trap '' XFSZ; ulimit -f 1; $PTXAS -arch=sm_90 $TMP/k.ptx -o $TMP/k.cubin >/dev/null 2>&1)
echo "exit status $?, $(stat -c %s $TMP/k.cubin) bytes"
