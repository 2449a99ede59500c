# What snippets of C++ (wp.func_native) say that the language has no words for: each message has the line of the snippet.
cd $TMP
try() {
    echo "== $1"
    { printf 'import warp as wp\n\n@wp.func_native("""\n'; cat -; printf '""")\ndef f(a: wp.array(dtype=int), x: float, address: wp.uint64) -> float: ...\n\n'
      printf '@wp.kernel\ndef k(a: wp.array(dtype=int), b: wp.array(dtype=float)):\n    b[0] = f(a, b[0], wp.uint64(a[0]))\n\nk.compile(block_dim=64)\n'; } >k.py
    $TILEC k.py --arch=sm_80 --ptxas=none -o k.o 2>&1 | grep -vE '^ +[0-9]* \||while specialising'
}
try 'assembly' <<'EOF'
float r;
asm("st.global.f32 [%0], %1;" :: "l"(address), "f"(x) : "memory");
return r;
EOF
try 'a pointer' <<'EOF'
int* p = 0;
return 1.0f;
EOF
try 'switch' <<'EOF'
switch (a[0]) { case 1: return 2.0f; }
return x;
EOF
try 'a function that is not known' <<'EOF'
return __nanosleep(x);
EOF
try 'a name that is not declared' <<'EOF'
// the second line
return y;
EOF
try 'what is no C++' <<'EOF'
return x +;
EOF
try 'a macro' <<'EOF'
#define SQUARE(x) x * x
return SQUARE(x);
EOF
try 'a condition of the preprocessor' <<'EOF'
#if __CUDA_ARCH__ >= 900
return x;
#endif
EOF
try 'an assignment inside of another' <<'EOF'
int i = 0, j = 0;
i = j = 1;
return i;
EOF
try 'several instructions' <<'EOF'
float r;
asm volatile("ex2.approx.f32 %0, %1;"
             "neg.f32 %0, %0;" : "=f"(r) : "f"(x));
return r;
EOF
try 'an address' <<'EOF'
return modf(x, &x);
EOF
