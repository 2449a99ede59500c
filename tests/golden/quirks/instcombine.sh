# LLVM: instcombine by name, of code of which one iteration leaves something to do.
needs opt
cat > $TMP/twice.ll <<'END'
define ptr @f(ptr %a, ptr %b) {
entry:
  %x = load i32, ptr %b, align 4
  %y = load i32, ptr %b, align 4
  br label %then
then:
  %to = getelementptr i64, ptr null, i32 %x
  store i32 0, ptr %to, align 4
  %at = getelementptr half, ptr null, i32 %y
  ret ptr %at
}
END
for passes in instcombine 'instcombine<no-verify-fixpoint>'; do
  $LLVM_OPT -passes="function($passes)" -disable-output $TMP/twice.ll 2>&1 | grep -o 'did not reach a fixpoint' || echo "$passes: done"
done
