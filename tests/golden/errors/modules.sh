# Modules that are not there: those that a package lacks are said to be, and a type that comes of such an import names it.
cd $TMP
mkdir package; echo 'here = 1' > package/__init__.py
kernel() { # IMPORT TYPE
    cat <<END
import tilus
from tilus import float32, int32
$1


class Kernel(tilus.Script):
    def __call__(self, n: int32, p: $2):
        self.attrs.blocks = 1
        self.attrs.warps = 1


kernel = Kernel()
END
}
try() { # IMPORT TYPE
    echo "== $1: $2"
    kernel "$@" > kernel.py
    $TILEC check kernel.py; echo "exit status $?"
}
try 'from tilus.hidet.ir.type2 import void_p' void_p
try 'from tilus.hidet.ir.typ import void_p' '~void_p'
try 'import tilus.tensors as tensors' tensors.Tensor
try 'from package.types import half' half
try 'from package import half' half
try 'from nowhere.types import half' half
try 'import nowhere' nowhere.half
echo "== a class"
cat > class.py <<'END'
from tilus.languages import Script


class Kernel(Script):
    def __call__(self):
        self.attrs.blocks = 1
        self.attrs.warps = 1


kernel = Kernel()
END
$TILEC class.py -o class.o; echo "exit status $?"
echo "== an element type"
cat > tensors.py <<'END'
import tilelang
import tilelang.language as T
from tilelang.kinds import half
from nowhere import number


@tilelang.jit
def f(a: T.Tensor[[4], half]):
    with T.Kernel(1, threads=32):
        pass


@tilelang.jit
def g(a: T.Tensor[[4], T.float32], b: number):
    with T.Kernel(1, threads=32):
        pass


f.compile()
g.compile()
END
$TILEC check tensors.py; echo "exit status $?"
echo "== in a try"
cat > tried.py <<'END'
try:
    from tilus.hidet.ir.type2 import void_p
except ImportError as error:
    print(error)
try:
    from nowhere import something
except ImportError as error:
    print(error)
END
$TILEC run tried.py
