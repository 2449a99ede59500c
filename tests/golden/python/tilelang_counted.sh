# TileLang's Analyzer: what is counted around regions that begin where others end.
export TILE_DEVICE=emulator
cat >"$TMP/counted.py" <<'P'
from tilelang.tools import Analyzer


class Branches:
    def script(self):
        return """%c0 = const {value = 0} : i32
%c8 = const {value = 8} : i32
%c1 = const {value = 1} : i32
%a = full %c0 : tile<f16, [16, 16], #blocks>
for %c0, %c8, %c1 {
    if %p {
        %b = dot %a, %a, %a : tile<f16, [16, 16], #blocks>
    } {
        yield
    }
}
%c = dot %a, %a, %a : tile<f16, [16, 16], #blocks>"""


print(Analyzer(Branches(), None).ir_pass().total_flops == (8 + 1) * 2 * 16**3)
P
cd "$TMP" && python3 -m tilec run counted.py
