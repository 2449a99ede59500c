# ptxas: full tables of lines, and optimisation. LLVM: what it writes of tables with lines alone.
needs llc
needs ptxas
cat > $TMP/lines.ll <<'END'
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) !dbg !4 {
  store i32 1, ptr addrspace(1) %p, !dbg !7
  ret void, !dbg !7
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, isOptimized: true, emissionKind: KIND)
!1 = !DIFile(filename: "k.tile", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition | DISPFlagOptimized)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 2, scope: !4)
END
for kind in FullDebug LineTablesOnly DebugDirectivesOnly; do
  sed "s/KIND/$kind/" $TMP/lines.ll > $TMP/$kind.ll
  echo "$kind: $($LLC -mcpu=sm_90 -mattr=+ptx80 $TMP/$kind.ll -o $TMP/$kind.ptx && $PTXAS -arch=sm_90 -O3 $TMP/$kind.ptx -o $TMP/k.cubin 2>&1 && echo optimised)"
done
