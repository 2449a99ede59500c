# What methods of arrays are not given, or cannot do.
cd $TMP
for call in "a.view(4, 2)" "a.view(-1, -1)" "a.reshape()" "a.item()" "a.size(2)" "a.size(-3)" "a[2]" "a[0, 3]" "a[0, 0, 0]" "a.fill_('x')" "a.fill_()" \
  "a.copy_(torch.arange(4))" "torch.arange(3).t()"; do
  printf 'import torch\na = torch.arange(6, dtype=torch.float32).reshape(2, 3)\n%s\n' "$call" > bad.py
  echo "== $call"; $TILEC run bad.py 2>&1 | head -1
done
