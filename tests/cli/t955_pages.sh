#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# HTML reports in a real browser, 390 and 1600 pixels wide: nothing is wider than the screen, every plot exists and
# has a size, and no text of a plot is cut off.
# SPDX-License-Identifier: BSD-3-Clause
set -u
if ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    echo "matplotlib is not installed (Debian: apt-get install python3-matplotlib)"
    exit 77
fi
if ! command -v chromium >/dev/null 2>&1; then
    echo "chromium is not installed (Debian: apt-get install chromium)"
    exit 77
fi
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
pages='plain steps overlap pipelines primitives auto sections mesh'

# bench PAGE COMMAND arguments...: run a command that writes the report PAGE
bench() {
    page=$1
    shift
    { "$here/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$@" --json "$page.json" &&
        "$here/experiments/tutti_experiments/__main__.py" "$page.json" --html "$page.html"; } >out 2>&1 || {
        echo "$page: exit code $?"
        cat out
        bad=1
    }
}

bench plain "$TUTTI_COMMAND" bench --quick --size 64k --rounds 1
bench steps "$TUTTI_COMMAND-experiments" steps --quick --array 256k --files 64k,256k --rounds 2
bench overlap "$TUTTI_COMMAND-experiments" overlap --quick --array 32m --size 16m --rounds 2
bench pipelines "$TUTTI_COMMAND-experiments" pipelines --quick --size 128k
bench primitives "$TUTTI_COMMAND-experiments" primitives --quick --size 128k --procs 1,2
bench auto "$TUTTI_COMMAND-experiments" auto --quick --size 64k --rounds 2
bench sections "$TUTTI_COMMAND-experiments" sections --quick --array 8m --rounds 1 --part common
bench mesh "$TUTTI_COMMAND-experiments" mesh --quick --nodes 500 --rounds 1

# This page shows each report in frames of both widths and records the result.
{
    echo '<!doctype html><title>wait</title><body><script>'
    echo "const pages = '$pages'.split(' ');"
    cat <<'JS'
function look(page, width, doc) {
  const wrong = [], root = doc.documentElement;
  if (root.scrollWidth > width) wrong.push('is ' + root.scrollWidth + ' wide');
  const plots = doc.querySelectorAll('svg');
  if (plots.length < 1) wrong.push('has no plots');
  for (const svg of plots) {
    const box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 60 || box.right > width) wrong.push('has a plot of ' + box.width);
    if (!svg.querySelector('#data path, #data use')) wrong.push('has an empty plot');
    for (const text of svg.querySelectorAll('text')) {
      const t = text.getBoundingClientRect();
      if (t.left < 0 || t.right > width + 1) wrong.push('cuts off ' + text.textContent);
    }
  }
  return wrong.map(w => page + ' at ' + width + ' ' + w);
}
async function main() {
  const wrong = [];
  let seen = 0;
  for (const page of pages) for (const width of [390, 1600]) {
    const frame = document.createElement('iframe');
    frame.style.cssText = 'border:0;height:3000px;width:' + width + 'px';
    frame.src = page + '.html';
    document.body.append(frame);
    await new Promise(done => frame.onload = done);
    wrong.push(...look(page, width, frame.contentDocument));
    seen++;
    frame.remove();
  }
  document.body.textContent = 'SEEN ' + seen + '\n' + wrong.map(w => 'WRONG ' + w).join('\n') + '\n';
}
main();
JS
    echo '</script>'
} >look.html
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --allow-file-access-from-files --user-data-dir="$PWD/profile" \
    --virtual-time-budget=20000 --dump-dom "file://$PWD/look.html" >dom 2>browser.log
if ! grep -q 'SEEN 16' dom; then
    echo 'the browser did not look at all pages'
    head -c 2000 dom
    tail -5 browser.log
    bad=1
fi
if grep 'WRONG' dom; then bad=1; fi
exit $bad
