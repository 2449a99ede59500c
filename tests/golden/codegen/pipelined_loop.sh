# The main loop of a matmul through shared tiles that are copied ahead, because the author says so or because the compiler finds
# that a plain loop can be: what an iteration of it executes, of the matrix unit's
# work and of everything else. Addresses are made once an iteration and differ by constants; nothing is checked that need not be.
# Each kernel is built for arguments that are aligned and for others; shown is the loop with the fewest instructions.
while read -r arch file kernel; do
  echo "$arch $kernel"
  $TILEC --arch=$arch --export "gemm = $kernel.compile(n=4096, k=4096)" --emit=ptx $TILE_ROOT/tests/exec/$file.tile > $TMP/all.ptx
  awk '
    /^\$L__BB[0-9_]+:/ { label = $1; sub(/:.*/, "", label); starts[label] = count; next }
    /^\t?[a-z@]/ {
      name = ""
      if (match($0, /(mbarrier|ldmatrix|mma\.sync|wgmma|cp\.async|fence|bar|ld\.global|st\.shared|ld\.shared)\.[.:a-z0-9_]*/)) name = substr($0, RSTART, RLENGTH)
      names[count++] = name != "" ? name : /^\tmov/ ? "mov" : "other"
      if (match($0, /bra.*\$L__BB[0-9_]+/) && match($0, /\$L__BB[0-9_]+/) && (label = substr($0, RSTART, RLENGTH)) in starts) {
        split("", seen); products = all = 0
        for (i = starts[label]; i < count; i++) { seen[names[i]]++; products += names[i] ~ /mma/; all += names[i] != "mov" }
        if (products && (best == "" || all < best)) {
          best = all; others = seen["other"]; result = ""
          for (name in seen) if (name != "other" && name != "mov") result = result sprintf("%6d %s\n", seen[name], name)
        }
      }
    }
    END { printf "%s", result; print others " other instructions" }' $TMP/all.ptx | sort -k2
done <<'END'
sm_80 pipelined_gemm Gemm(128, 128, 32, 3, 4)
sm_80 pipelined_gemm Gemm(128, 256, 32, 3, 8)
sm_80 pipelined_gemm Gemm(128, 128, 64, 2, 4, transposed=True)
sm_90a pipelined_gemm Gemm(128, 128, 32, 3, 4)
sm_90a pipelined_gemm Gemm(128, 256, 64, 4, 8, transposed=True)
sm_80 plain_loop Plain(128, 128, 32, 4)
sm_90a plain_loop Plain(128, 128, 32, 8)
sm_90a plain_loop Plain(128, 128, 16, 8)
sm_90a plain_loop Plain(64, 128, 32, 8)
END
