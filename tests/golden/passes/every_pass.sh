# Each pass has a test of its own: a file of IR, named for it, that runs it.
for pass in $($TILEC opt --list | awk '{ print $1 }'); do
    grep -lqE "^# run: opt .*--run=([a-z_]*,)*$pass( |,)" "$pass".ir "$pass"_*.ir 2>/dev/null || [ -e "$pass.sh" ] || echo "no test is named for the pass $pass"
done
