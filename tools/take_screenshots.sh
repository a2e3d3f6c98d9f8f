#!/bin/bash
# Walks through the site that `make site` built as a newcomer does, in headless Chromium, wide and
# narrow, light and dark, and keeps what they see in docs/screenshots.
#
#   tools/take_screenshots.sh      (`make screenshots` calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
site=build-site/site
pictures=docs/screenshots
port=8765

[[ -e $site/index.html ]] || { echo "take_screenshots: make site comes first" >&2; exit 1; }
python3 -m http.server "$port" --bind 127.0.0.1 --directory "$site" >/dev/null 2>&1 &
trap 'kill %1' EXIT
sleep 1
mkdir -p "$pictures"

take() { # <name> <page> <width> <height> [<further option>]
  local whole
  whole=$(mktemp --suffix=.png)
  timeout 90 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --virtual-time-budget=6000 --window-size="$3,$4" "${@:5}" --screenshot="$whole" \
    "http://127.0.0.1:$port/$2" >/dev/null 2>&1
  pngquant 48 --force --output "$pictures/$1.png" "$whole"
  rm "$whole"
  echo "$pictures/$1.png"
}

take 1-front "" 1280 900
take 2-start start/ 1280 1100
take 3-dynamic-sizes how-to/dynamic-sizes/ 1280 1100
take 4-checkpoints-dark how-to/hugging-face/ 1280 1100 --blink-settings=preferredColorScheme=0
take 5-errors-by-code diagnostics/ 1280 900
take 6-operators operators/ 1280 900
take 7-how-it-works how-it-works/ 1280 1400
take 8-start-narrow start/ 500 900
