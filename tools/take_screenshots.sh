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

dark=--blink-settings=preferredColorScheme=0
take 1-front "" 1280 1500
take 2-front-dark "" 1280 1100 "$dark"
take 3-front-narrow "" 500 1100
take 4-tutorial tutorials/language-models/ 1280 1200
take 5-dynamic-shapes-dark how-to/dynamic-sizes/ 1280 1200 "$dark"
take 6-diagnostic diagnostics/SX1015/ 1280 900
take 7-performance performance/ 1280 1300
take 8-python-reference reference/python/ 1280 1200
take 9-installation-narrow-dark installation/ 500 1100 "$dark"

# The picture of README: the page that `sardonyx inspect --html` writes of its first export.
command=${BUILD:-build}/bin/sardonyx
scratch=$(mktemp -d)
awk '/^```python/ { on = 1; next } /^```/ { if (on) exit } on' README.md >"$scratch/first.py"
(cd "$scratch" && "${PYTHON:-python3}" first.py)
"$command" inspect "$scratch/model.onnx" --html "$scratch/model.html"
timeout 90 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
  --virtual-time-budget=4000 --window-size=860,560 --screenshot="$scratch/model.png" \
  "file://$scratch/model.html" >/dev/null 2>&1
pngquant 48 --force --output docs/images/first-export.png "$scratch/model.png"
rm -r "$scratch"
