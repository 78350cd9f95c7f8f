#!/bin/sh
# TEST ranks=0 timeout=60
# The generated declarations of the Python binding contain every function that the library exports, also if the build
# directory was created with older headers; a new header with all kinds of declarations is read; an unknown kind of
# declaration is an error.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
cd "$TUTTI_TEST_DIR" || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 "$top/scripts/gen_python_api.py" api.py || bad=1
cmp api.py "$TUTTI_BUILD_DIR/generated/python/_api.py" || { echo "the build did not regenerate _api.py"; bad=1; }
nm -D --defined-only "$TUTTI_BUILD_DIR/libtutti.so" | sed -n 's/.* T \(tutti_[a-z0-9_]*\).*/\1/p' | sort >exported
python3 -c 'import api; print("\n".join(sorted(api.FUNCTIONS)))' | sort >declared
diff exported declared || { echo "the library exports <, _api.py declares >"; bad=1; }

mkdir -p tree/scripts
cp -r "$top/include" tree/
cp "$top/scripts/gen_python_api.py" "$top/scripts/tutti_headers.py" tree/scripts/
cat >tree/include/tutti/newer.h <<'END'
#include <mpi.h>
#include <tutti/types.h>
typedef struct tutti_newer tutti_newer;
#define TUTTI_NEWER_LIMIT 32
#define TUTTI_NEWER_TABLE(X) X(ONE, 1) X(TWO, 5)
typedef enum tutti_newer_kind {
#define TUTTI_NEWER_ENUM(name, value) TUTTI_NEWER_##name = (value),
    TUTTI_NEWER_TABLE(TUTTI_NEWER_ENUM)
    TUTTI_NEWER_THREE
} tutti_newer_kind;
typedef struct tutti_newer_spec {
    const char *name, *title;
    double low[3], high[TUTTI_NEWER_LIMIT + 1];
    int (*call)(void *context, const tutti_count *numbers, size_t n);
} tutti_newer_spec;
TUTTI_API tutti_err tutti_newer_open(MPI_Comm comm, const char *path, const tutti_newer_spec *spec,
                                     tutti_newer **out) TUTTI_MUST_USE;
TUTTI_API const char *tutti_newer_name(const tutti_newer *n, tutti_newer_kind kinds[2]);
TUTTI_MUST_USE static inline tutti_err tutti_newer_easy(tutti_newer **out) {
    return tutti_newer_open(0, "", 0, out);
}
END
sed -i 's|#include <tutti/types.h>|&\n#include <tutti/error.h>|' tree/include/tutti/newer.h
if python3 tree/scripts/gen_python_api.py tree/_api.py && python3 - tree <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import _api as a
assert a.ENUMS["tutti_newer_kind"] == {"TUTTI_NEWER_ONE": 1, "TUTTI_NEWER_TWO": 5, "TUTTI_NEWER_THREE": 6}
assert a.STRUCTS["tutti_newer_spec"] == (
    ("name", "const char*", ()), ("title", "const char*", ()), ("low", "double", (3,)), ("high", "double", (33,)),
    ("call", "int(*)(void*, const tutti_count*, size_t)", ())), a.STRUCTS["tutti_newer_spec"]
assert "tutti_newer" in a.OPAQUE and a.NUMBERS["TUTTI_NEWER_LIMIT"] == 32
header, result, parameters = a.FUNCTIONS["tutti_newer_open"]
assert (header, result) == ("newer.h", "tutti_err")
assert [k for k, _ in parameters] == ["MPI_Comm", "const char*", "const tutti_newer_spec*", "tutti_newer**"]
assert a.FUNCTIONS["tutti_newer_name"][2] == (("const tutti_newer*", "n"), ("tutti_newer_kind*", "kinds"))
assert a.INLINE["tutti_newer_easy"][3] == ("tutti_newer_open",)
END
then :; else
    echo "a new header was not read"
    bad=1
fi
echo 'union tutti_newer_thing { int a; double b; };' >>tree/include/tutti/newer.h
if python3 tree/scripts/gen_python_api.py tree/_api.py 2>/dev/null; then
    echo "a declaration of an unknown kind was ignored"
    bad=1
fi
exit $bad
