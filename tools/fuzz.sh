#!/bin/bash
# Throws damaged files at one reader for some minutes: tools/fuzz.sh <reader> <minutes>.
# A file that was thrown is tried again by build-fuzz/tests/fuzz/sardonyx_fuzz <reader> <file>.
set -euo pipefail
cd "$(dirname "$0")/.."
reader=$1 minutes=$2
mkdir -p "build-fuzz/corpus/$reader" build-fuzz/findings
seconds=$(awk -v minutes="$minutes" 'BEGIN { print int(minutes * 60) }')
log=build-fuzz/fuzz-$reader.log
words=tests/fuzz/dictionaries/$reader
[ -f "$words" ] || words=
export UBSAN_OPTIONS=print_stacktrace=1 PATH=$PATH:/usr/lib/llvm-19/bin  # where the symbolizer is
build-fuzz/tests/fuzz/sardonyx_fuzz "$reader" \
  -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
  ${words:+-dict="$words"} -artifact_prefix="build-fuzz/findings/$reader-" \
  "build-fuzz/corpus/$reader" "tests/fuzz/corpus/$reader" >"$log" 2>&1 || {
  tail -n 60 "$log"
  echo "fuzz: $reader: a finding; the whole of it is in $log" >&2
  exit 1
}
awk -v reader="$reader" -v minutes="$minutes" '
  /^stat::number_of_executed_units/ { thrown = $2 }
  / cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") reached = $(i + 1) }
  END { print reader ": " thrown " files in " minutes " minutes, " reached " places reached, no finding" }
' "$log"
