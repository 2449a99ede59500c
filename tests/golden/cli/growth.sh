# Processor time and memory grow about as the program does: a small part of tests/bench/growth.py.
needs python3
cd $TILE_ROOT
python3 tests/bench/growth.py --again 3 --families '^(warp_stores|loops_of_stores|script_shared|shared_parts|thread_groups|wide_parallel_memory)$' \
    --arch sm_90a --divide 2 --doublings 2 --most 1.6 "$TILEC" > $TMP/table || cat $TMP/table
# of many stores in a row each looks for its neighbours, not through all that comes behind it
python3 tests/bench/growth.py --again 3 --families '^stores_within_if$' --arch sm_90a --doublings 2 --most 1.5 "$TILEC" > $TMP/row || cat $TMP/row
cat $TMP/row >> $TMP/table
# what is in many branches is not looked at once for each of those around it
python3 tests/bench/growth.py --again 3 --families '^else_chain$' --arch sm_90a --doublings 2 --most 2 --seconds 10 "$TILEC" > $TMP/row || cat $TMP/row
cat $TMP/row >> $TMP/table
# what is in no cache is read in order
python3 tests/bench/growth.py --again 3 --families '^(ifs|wide_tiles)$' --arch sm_90a --divide 2 --doublings 2 --most 1.6 "$TILEC" > $TMP/row || cat $TMP/row
cat $TMP/row >> $TMP/table
# a barrier that ends a long list of accesses is not tried to be left out: each trial takes memory
python3 tests/bench/growth.py --families '^loops_of_tiles$' --arch sm_90a --divide 2 --doublings 2 --kinds memory --most 1.3 "$TILEC" > $TMP/row || cat $TMP/row
cat $TMP/row >> $TMP/table
echo "$(grep -c sm_90a $TMP/table) families"
