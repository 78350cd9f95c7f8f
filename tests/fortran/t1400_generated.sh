#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# The generated Fortran sources correspond to the current headers, also if a build started with older ones.  Every public
# function of C is a public procedure of the module or is listed with a reason in NOT_THERE of the generator: a program
# that refers to all procedures compiles.  The Fortran library exports exactly the entries that the module calls.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
cd "$TUTTI_TEST_DIR" || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 "$top/scripts/gen_fortran.py" now || bad=1
diff -r now "$TUTTI_BUILD_DIR/generated/fortran" || { echo "the build did not regenerate the Fortran sources"; bad=1; }
[ -f "$TUTTI_BUILD_DIR/fortran/tutti.mod" ] || { echo "no module (Debian: apt-get install gfortran)"; exit $((bad ? 1 : 77)); }

python3 "$top/scripts/gen_fortran.py" --names >names || bad=1
{
    echo "program all_of_it"
    sed 's/^/  use tutti, only: /' names
    echo "end program"
} >all.f90
[ "$(wc -l <names)" -gt 200 ] || { echo "only $(wc -l <names) names"; bad=1; }
compiler=$(sed -n 's/^CMAKE_Fortran_COMPILER:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$compiler" -fsyntax-only -I"$TUTTI_BUILD_DIR/fortran" all.f90 || { echo "the module has not all of them"; bad=1; }
sed 's/tutti_file_open$/tutti_file_opens/' all.f90 >other.f90
if "$compiler" -fsyntax-only -I"$TUTTI_BUILD_DIR/fortran" other.f90 2>/dev/null; then
    echo "a name that the module has not got is not noticed"
    bad=1
fi

cat now/*.inc "$top"/bindings/fortran/*.inc "$top/bindings/fortran/tutti.F90" | grep -o 'name="tutti_f_[a-z0-9_]*"' |
    sed 's/name="//; s/"//' | sort -u >called
nm -D --defined-only "$TUTTI_BUILD_DIR/libtutti-fortran_$TUTTI_MPI.so" | sed -n 's/.* T \(tutti_f_[a-z0-9_]*\).*/\1/p' | sort -u >there
diff called there || { echo "the module calls <, the library has >"; bad=1; }
exit $bad
