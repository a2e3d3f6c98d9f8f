#!/bin/bash
# Runs targets of the Makefile one after the other, up to one that fails, then says what each took.
#
#   tools/run_parts.sh MAKE TARGET...
set -uo pipefail
make=$1
shift
TIMEFORMAT='%1R %1U %1S'
table=$(printf '%-10s %9s %9s' part 'wall (s)' 'CPU (s)')
status=0
exec 3>&1 4>&2
for part in "$@"; do
  times=$( { time "$make" --no-print-directory "$part" 1>&3 2>&4; } 2>&1 )
  status=$?
  read -r wall user system <<<"$times"
  table+=$(printf '\n%-10s %9.0f %9.0f' "$part" "$wall" "$(awk "BEGIN { print $user + $system }")")
  if ((status)); then
    table+=" failed"
    break
  fi
done
echo "$table"
exit "$status"
