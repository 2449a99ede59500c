# ptxas: (word & mask) ^ flip of constants, 32 times: bytes of code where lop3 has both, and where ptxas could see it.
needs ptxas
write() { # INSTRUCTIONS, of %in to %out
  printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b64 %%p; .reg .b32 %%in, %%and, %%out;\nld.param.u64 %%p, [p];\n'
  for i in $(seq 0 4 124); do printf 'ld.global.u32 %%in, [%%p+%d];\n%s\nst.global.u32 [%%p+%d], %%out;\n' $i "$1" $((i + 4096)); done
  printf 'ret;\n}\n'
}
bytes() { # of the kernel's section
  $PTXAS -arch=sm_90 $TMP/k.ptx -o $TMP/k.cubin && echo $((16#$(readelf -SW $TMP/k.cubin 2>/dev/null | sed -nE 's/.*\.text\.k +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/\1/p')))
}
write 'lop3.b32 %out, %in, 0x00ff00ff, 0x64006400, 0x6a;' > $TMP/k.ptx
one=$(bytes)
write 'and.b32 %and, %in, 0x00ff00ff; xor.b32 %out, %and, 0x64006400;' > $TMP/k.ptx
two=$(bytes)
[ "$one" -lt "$two" ] && echo "ptxas makes two of it" || echo "ptxas makes one of it: quirk_masked is not needed ($one, $two bytes)"
