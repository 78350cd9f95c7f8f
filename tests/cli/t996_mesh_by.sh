#!/bin/sh
# TEST ranks=0 timeout=60
# tutti mesh --by: text, JSON and picture name the partitioner that was used; METIS is replaced by coordinate bisection
# if there are few nodes per partition; unknown names are refused.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || exit 77
python3 -c "
import pathlib, sys
sys.path.insert(0, '$here/scripts')
import tour
tour.make_mesh(pathlib.Path('pipe.msh'), 9)"
# ask arguments...: run the command with standard output in the file out and standard error in err
ask() { "$TUTTI_COMMAND" mesh "$@" >out 2>err </dev/null || fail "tutti mesh $*"; }

used=rcb
ask partition pipe.msh --parts 4 --by metis --json
grep -q '"by": "metis"' out && used=metis # otherwise the library lacks METIS
[ $used = metis ] || grep -q 'METIS is not built in' err || fail 'a fallback that is not reported'
# Each line has the requested partitioner, the number of partitions, and the partitioner that is used.
while read -r by parts real; do
    ask partition pipe.msh --parts "$parts" --by "$by" --json
    json "o['by'] == '$real' and o['parts'] == $parts and o['empty'] == 0 and ('$real' != 'rcb' or o['most'] - o['least'] <= 1)"
    ask partition pipe.msh --parts "$parts" --by "$by"
    has "by $real"
    ask owners pipe.msh --parts "$parts" --by "$by" --rule own --json
    json "o['by'] == '$real' and o['parts'] == $parts"
    ask plot pipe.msh --parts "$parts" --by "$by" --rule own --out picture.svg
    grep -q "$parts partitions by $real<" picture.svg || fail "$by, $parts: the picture does not say $real"
done <<END
metis 4 $used
metis 300 rcb
curve 4 curve
rcb 7 rcb
END
expect 2 'metis|curve|rcb' mesh partition pipe.msh --by scotch
finish
