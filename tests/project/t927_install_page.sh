#!/bin/sh
# TEST ranks=0 timeout=60
# docs/howto/install.md: by default `make` calls apt-get, but not with TUTTI_NO_INSTALL=1; the commands of the section
# Python work without a network and do not change the clone.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
page=$top/docs/howto/install.md
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
fail() {
    echo "$*"
    [ ! -e log ] || cat log
    bad=1
}

# ---- packages: a replacement of apt-get records calls, so that nothing is installed
mkdir bin
printf '#!/bin/sh\necho not-installed\n' >bin/dpkg-query
printf '#!/bin/sh\necho "$*" >>"%s/called"\n' "$PWD" >bin/apt-get
printf '#!/bin/sh\necho 0\n' >bin/id
chmod +x bin/*
grep -q '^    TUTTI_NO_INSTALL=1 make install ' "$page" || fail 'the page has no line with TUTTI_NO_INSTALL'
for target in run install test; do
    line=$(make -n -C "$top" $target | grep -m1 'scripts/packages.sh')
    (cd "$top" && PATH=$TUTTI_TEST_DIR/bin:$PATH TUTTI_NO_INSTALL=1 sh -c "$line") >log 2>&1 || fail "$target: exit code $?"
    [ ! -e called ] || fail "$target calls apt-get in spite of TUTTI_NO_INSTALL"
    grep -q "not installed, group 'run': .*cmake" log || fail "$target does not name what is missing"
    (cd "$top" && env -u TUTTI_NO_INSTALL PATH="$TUTTI_TEST_DIR/bin:$PATH" sh -c "$line") >log 2>&1 || fail "$target: exit code $?"
    grep -q '^install .*cmake' called || fail "$target does not call apt-get"
    rm -f called log
done

# ---- Python
for module in pip setuptools wheel numpy venv; do
    /usr/bin/python3 -c "import $module" 2>/dev/null || { echo "no Python module $module"; [ $bad = 0 ] && exit 77; exit 1; }
done
sed -n '/^## Python/,/^## /s/^    //p' "$page" | sed 's/^python3/\/usr\/bin\/python3/' >commands
[ "$(wc -l <commands)" = 3 ] || fail 'the page has not three commands for Python'
cp -r "$top/bindings" "$top/include" "$top/scripts" .
find bindings scripts -name __pycache__ -prune -exec rm -rf {} +
find bindings scripts | sort >before
while IFS= read -r line; do
    PYTHONUSERBASE=$PWD/user PIP_NO_INDEX=1 PIP_NO_DEPS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='' sh -c "$line" >log 2>&1 </dev/null || fail "$line: exit code $?"
done <commands
rm -f log
find bindings scripts | sort | cmp - before || fail 'pip has left files in the clone'
(cd / && "$TUTTI_TEST_DIR/env/bin/python" -c 'import tutti' && PYTHONUSERBASE=$TUTTI_TEST_DIR/user /usr/bin/python3 -c 'import tutti') ||
    fail 'the package cannot be imported'
exit $bad
