#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi
# The archive of `make dist`: two runs give the same bytes; the archive contains the commit and all generated files of the
# build; no generated file is committed; uncommitted changes are refused; pip installs the Python package from the
# archive and from a source distribution, without a compiler.  (t924 builds the archive.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/project/clone.sh
. "$(dirname "$0")/clone.sh"
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
fail() {
    echo "$*"
    bad=1
}
clone_commit "$PWD/clone"

clone/scripts/dist.sh first "$TUTTI_BUILD_DIR/generated" >/dev/null || exit 1
cp -r "$TUTTI_BUILD_DIR/generated/." copy # with other times, owners and modes
(umask 077 && TZ=Asia/Tokyo LC_ALL=C clone/scripts/dist.sh second copy >/dev/null) || exit 1
cmp first/tutti-*.tar.gz second/tutti-*.tar.gz || fail 'two archives of one commit differ'

mkdir archive
tar xzf first/tutti-*.tar.gz --strip-components=1 -C archive
diff -r archive/generated copy || fail 'the archive has < of the generated files, the build >'
git -C clone ls-files | sort >committed
(cd archive && find . -path ./generated -prune -o ! -type d -print) | sed 's|^\./||' | sort | diff committed - ||
    fail 'the commit has <, the archive >'
for kind in 'completion/bash' 'fortran/entries.c' 'man/tutti_file_open.3' 'man/tutti-options.7' 'python/_api.py'; do
    [ -s "archive/generated/$kind" ] || fail "the archive lacks generated/$kind"
done
git -C clone grep -lE 'Written by scripts/gen_.*do not edit' -- . ':!scripts' ':!tests/project' && fail 'these files are generated, and committed'

echo >>clone/README.md
clone/scripts/dist.sh third copy >log 2>&1 && fail 'an archive was made in spite of uncommitted changes'
grep -q 'uncommitted changes' log || fail "the error message is: $(cat log)"

if /usr/bin/python3 -c 'import pip, setuptools, wheel' 2>/dev/null; then
    CC=false /usr/bin/python3 -m pip install --quiet --no-deps --no-build-isolation --no-index --target installed archive/bindings/python >log 2>&1 ||
        fail "pip install fails: $(cat log)"
    cmp installed/tutti/_api.py copy/python/_api.py || fail 'pip does not install the _api.py of the archive'
    version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' clone/include/tutti/types.h)
    [ -d "installed/tutti-$version.dist-info" ] || fail "the package is not of version $version: $(ls installed)"
    (cd clone/bindings/python && /usr/bin/python3 setup.py -q sdist -d ../../../source) >log 2>&1 || fail "sdist fails: $(cat log)"
    CC=false /usr/bin/python3 -m pip install --quiet --no-deps --no-build-isolation --no-index --target again source/tutti-*.tar.gz >log 2>&1 ||
        fail "pip install fails with the source distribution: $(cat log)"
    cmp again/tutti/_api.py copy/python/_api.py || fail 'the source distribution has another _api.py'
fi
exit $bad
