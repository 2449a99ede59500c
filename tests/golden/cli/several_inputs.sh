# check looks at each file, and goes on after a bad one.
cd $TMP; echo 'a = 1' > good.tile; echo 'a = (' > bad.tile; echo 'b = ]' > worse.tile
$TILEC check good.tile bad.tile missing.tile worse.tile; echo "exit status $?"
$TILEC check good.tile good.tile; echo "exit status $?"
$TILEC check; echo "exit status $?"
$TILEC test; echo "exit status $?"
$TILEC explain E0103 E0101; echo "exit status $?"
$TILEC explain; echo "exit status $?"
$TILEC explain E9999; echo "exit status $?"
