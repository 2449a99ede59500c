# LLVM: where it puts what is computed before a loop and used behind it: before the wait that begins that block, or behind it.
needs opt
cat > $TMP/loop.ll <<'END'
define void @k(ptr %p, i32 %thread, i32 %n) {
entry:
  %place = shl i32 %thread, 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void asm sideeffect "product", "~{memory}"()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %after
after:
  call void asm sideeffect "wait", "~{memory}"()
  %at = getelementptr i8, ptr %p, i32 %place
  store i32 1, ptr %at
  ret void
}
END
$LLVM_OPT -passes='function(instcombine<no-verify-fixpoint>)' -S $TMP/loop.ll | sed -n '/^after:/,/store/p' | grep -oE 'shl|wait'
