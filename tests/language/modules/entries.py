# A module that fills another one's tables: module_changes.py.
import modules.tables as reg
import modules.tables as R
from modules.tables import register, TABLE, put, Config, get, fill
L = []
fill(L, 3)
reg.fill(L, 2)
put("a", 5)
R.put("b", 6)
@register("sq")
def sq(x): return x * x
@reg.register("cube")
def cube(x): return x ** 3
Config.block = 64
reg.Config.warps = 4
R.EXTRA = 9
reg.COUNT.append(len(TABLE))
n = len(TABLE)
put("c", 7)
def size(): return len(R.TABLE), get("c"), reg.EXTRA
