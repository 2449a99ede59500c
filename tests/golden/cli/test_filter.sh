# tilec test: which tests there are, some of them, and what they gave as JUnit's XML, which is well-formed where files and messages have
# its characters.
cd "$TMP" || exit
cat > 'a<&>"b.tile' <<'END'
import pytest


def test_sum():
    assert 1 + 1 == 2


def helper():
    pass


def test_less():
    assert "<&>" == 'a "text"', "1 < 2 && 'x' > \x01"


def test_later():
    pytest.skip("no <GPU> & no time")
END
sed 's/sum/product/; /^def test_l/,$d' 'a<&>"b.tile' > other.tile
echo '== all'; $TILEC test --list *.tile
echo '== some'; $TILEC test --list --filter '^test_(s|p)' *.tile; $TILEC test --filter 'sum|prod' *.tile
echo '== none'; $TILEC test --filter nothing *.tile; echo "exit status $?"; $TILEC test --filter '(' *.tile; echo "exit status $?"
echo '== a report'; $TILEC test --output-junit report.xml *.tile 2> said; echo "exit status $?"
sed 's/time="[0-9.]*"/time="T"/' report.xml
echo '== another command'; $TILEC cache --filter x 2>&1 | grep warning; $TILEC opt --list --verify-each | grep -c '^promote '
python3 -c 'import sys' 2> /dev/null || exit 0
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("report.xml")'
