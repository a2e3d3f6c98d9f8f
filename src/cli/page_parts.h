// The page that shows a model: what of it is the same for every model.
#pragma once

namespace sardonyx::cli {

inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1d2127; --faint: #68707c; --line: #d9dde3;
  --box: #f1f3f6; --module: #e3ecfa; --heavy: #fbe6d3; --edge: #98a1ae; --mark: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --back: #16181d; --text: #e3e6ea; --faint: #949ca8;
  --line: #333942; --box: #23272e; --module: #1f3047; --heavy: #47331f; --edge: #6b7480;
  --mark: #7aa7ff; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: grid; grid-template: auto 1fr / minmax(16rem, 26rem) 1fr;
  font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); }
header { grid-column: 1 / 3; padding: .7rem 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; } header p { margin: .1rem 0 0; color: var(--faint); }
nav { overflow: auto; padding: .6rem; border-right: 1px solid var(--line); }
nav details { margin-left: .9rem; } nav > details { margin-left: 0; }
nav summary { cursor: pointer; padding: .1rem .3rem; border-radius: 4px; white-space: nowrap; }
nav summary:hover { background: var(--box); }
nav summary.on { background: var(--module); outline: 1px solid var(--mark); }
nav .leaf > summary { list-style: none; padding-left: 1.1rem; }
.figures { color: var(--faint); font-size: .85em; margin-left: .5rem; }
main { overflow: hidden; display: flex; flex-direction: column; min-width: 0; }
#bar { display: flex; gap: .6rem; align-items: center; padding: .4rem .8rem;
  border-bottom: 1px solid var(--line); }
#bar b { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; flex: 1; }
button { font: inherit; color: inherit; background: var(--box); border: 1px solid var(--line);
  border-radius: 4px; padding: .1rem .6rem; cursor: pointer; }
#drawing { overflow: auto; flex: 1; padding: 1rem; }
#more { max-height: 34%; overflow: auto; border-top: 1px solid var(--line); padding: .5rem .8rem; }
table { border-collapse: collapse; } td { padding: .05rem .9rem .05rem 0; vertical-align: top; }
td:nth-child(2) { text-align: right; color: var(--faint); } code { font-size: .92em; }
svg { display: block; margin: 0 auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); text-anchor: middle; } svg .sub { fill: var(--faint); font-size: 10px; }
svg rect { fill: var(--box); stroke: var(--line); } svg .heavy rect { fill: var(--heavy); }
svg .module rect { fill: var(--module); stroke: var(--mark); } svg .module { cursor: pointer; }
svg .end rect { fill: none; stroke-dasharray: 3 2; stroke: var(--edge); }
svg path { fill: none; stroke: var(--edge); } svg .on rect { stroke: var(--mark); stroke-width: 2; }
)css";

inline constexpr const char* kPageScript = R"js(
'use strict';
const model = JSON.parse(document.getElementById('model').textContent);
const {modules, nodes, values} = model;
const HEAVY = /^(Conv|ConvTranspose|MatMul\w*|Gemm|Attention|LSTM|GRU|.*::.*)$/;
const MAX = 500, LAYER = 64, GAP = 22, HEIGHT = 34;
const make = (tag, props = {}, ...inside) => {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...inside);
  return element;
};
const draw = (tag, props, ...inside) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
};
const size = bytes => bytes < 1e3 ? bytes + ' B' : bytes < 1e6 ? (bytes / 1e3).toFixed(1) + ' kB'
  : bytes < 1e9 ? (bytes / 1e6).toFixed(1) + ' MB' : (bytes / 1e9).toFixed(2) + ' GB';
const kindOf = type => type.slice(type.lastIndexOf('.') + 1);

// --- what reads and makes each value
const maker = values.map(() => -1), readers = values.map(() => []);
nodes.forEach((node, i) => {
  node.outputs.forEach(v => { if (v >= 0) maker[v] = i; });
  node.inputs.forEach(v => { if (v >= 0) readers[v].push(i); });
});
const handedOut = new Set(model.outputs);
const children = modules.map(() => []);
modules.forEach((m, i) => { if (m.parent >= 0) children[m.parent].push(i); });

// --- the tree
const summaries = [];
function branch(i) {
  const m = modules[i];
  const label = make('summary', {},
    m.name || 'the whole model', m.type ? make('span', {className: 'figures'}, kindOf(m.type)) : '',
    make('span', {className: 'figures'},
      `${m.nodes} node${m.nodes === 1 ? '' : 's'}${m.bytes ? ', ' + size(m.bytes) : ''}`));
  label.title = m.path + (m.type ? ' (' + m.type + ')' : '');
  label.addEventListener('click', () => show(i));
  summaries[i] = label;
  const entry = make('details', {open: i === 0, className: children[i].length ? '' : 'leaf'}, label);
  let filled = false;
  const fill = () => {
    if (filled || !entry.open) return;
    filled = true;
    entry.append(...children[i].map(branch));
  };
  entry.addEventListener('toggle', fill);
  fill();
  return entry;
}

// --- the drawing of one module
function itemOf(node, m) {
  let at = nodes[node].module, below = -1;
  while (at !== m) {
    if (at < 0) return null;
    below = at;
    at = modules[at].parent;
  }
  return below < 0 ? 'n' + node : 'm' + below;
}

function itemsOf(m) {
  const items = new Map(), edges = new Map();
  const item = (key, make) => {
    if (!items.has(key)) items.set(key, {key, order: items.size, ...make()});
    return items.get(key);
  };
  const node = i => {
    const key = itemOf(i, m);
    if (key === null || (!items.has(key) && items.size >= MAX)) return null;
    return item(key, () => {
      if (key[0] === 'm') {
        const child = modules[+key.slice(1)];
        return {text: child.name, sub: child.type ? kindOf(child.type) : child.nodes + ' nodes',
                module: +key.slice(1), title: child.path + '\n' + child.nodes + ' nodes'};
      }
      return {text: nodes[i].op, sub: nodes[i].attributes, node: i, title: nodeTitle(i)};
    });
  };
  const edge = (from, to, v) => {
    if (from !== to) edges.set(from.key + '>' + to.key, {from, to, title: valueTitle(v)});
  };
  const inside = nodes.map((_, i) => i).filter(i => itemOf(i, m) !== null);
  for (const i of inside) {
    for (const v of nodes[i].inputs) {
      if (v < 0 || values[v].constant || (maker[v] >= 0 && itemOf(maker[v], m) !== null)) continue;
      const to = node(i);
      if (to) edge(item('i' + v, () => endOf(v)), to, v);
    }
    node(i);
  }
  for (const i of inside) {
    const from = node(i);
    if (!from) continue;
    for (const v of nodes[i].outputs) {
      if (v < 0) continue;
      let leaves = handedOut.has(v);
      for (const r of readers[v]) {
        const to = itemOf(r, m) === null ? (leaves = true, null) : node(r);
        if (to) edge(from, to, v);
      }
      if (leaves) edge(from, item('o' + v, () => endOf(v)), v);
    }
  }
  return {items: [...items.values()], edges: [...edges.values()], inside};
}
const endOf = v => ({text: values[v].name, sub: values[v].type, end: true, title: valueTitle(v)});
const valueTitle = v => values[v].name + '\n' + values[v].type;
const nodeTitle = i => [nodes[i].op + '  ' + nodes[i].name, nodes[i].attributes,
  ...nodes[i].inputs.filter(v => v >= 0).map(v => '\u2190 ' + values[v].name + ': ' + values[v].type),
  ...nodes[i].outputs.filter(v => v >= 0).map(v => '\u2192 ' + values[v].name + ': ' + values[v].type)]
  .filter(Boolean).join('\n');

// Longest paths give the layers; edges over several get a place in each, so that they go round boxes.
function layered({items, edges}) {
  const into = new Map(items.map(i => [i, []]));
  for (const e of edges) if (e.from.order < e.to.order || e.from.end) into.get(e.to).push(e.from);
  const depth = item => {
    if (item.layer !== undefined) return item.layer;
    item.layer = 0;
    for (const from of into.get(item)) item.layer = Math.max(item.layer, depth(from) + 1);
    return item.layer;
  };
  items.forEach(depth);
  for (const e of edges)  // inputs stand just above what reads them first
    if (e.from.end) e.from.nearest = Math.min(e.from.nearest ?? Infinity, e.to.layer - 1);
  items.forEach(i => { if (i.nearest !== undefined) i.layer = Math.max(0, i.nearest); });
  const layers = [];
  const put = item => {
    (layers[item.layer] ??= []).push(item);
    item.width ??= Math.max(44, Math.min(230, 7.2 * Math.max(item.text.length, 0.8 *
      Math.min((item.sub || '').length, 34)) + 18));
  };
  items.forEach(put);
  for (const e of edges) {
    e.points = [e.from];
    const step = Math.sign(e.to.layer - e.from.layer);
    for (let l = e.from.layer + step; step > 0 && l < e.to.layer && e.to.layer - e.from.layer < 80; ++l) {
      const bend = {bend: true, layer: l, width: 8, text: ''};
      put(bend);
      e.points.push(bend);
    }
    e.points.push(e.to);
  }
  return layers.map(layer => layer ?? []);
}

function placed(layers, edges) {
  const near = new Map();
  for (const e of edges)
    for (let i = 1; i < e.points.length; ++i) {
      const [a, b] = [e.points[i - 1], e.points[i]];
      for (const [from, to] of [[a, b], [b, a]]) near.set(from, [...(near.get(from) ?? []), to]);
    }
  const spread = layer => {
    let x = 0;
    for (const item of layer) { item.x = x + item.width / 2; x += item.width + GAP; }
    for (const item of layer) item.x -= (x - GAP) / 2;
  };
  layers.forEach(spread);
  const mean = (item, of) => {
    const around = (near.get(item) ?? []).filter(of);
    return around.length ? around.reduce((sum, n) => sum + n.x, 0) / around.length : item.x;
  };
  const settle = (layer, of) => {
    for (const item of layer) item.wish = mean(item, of);
    layer.sort((a, b) => a.wish - b.wish);
    let right = -Infinity;
    for (const item of layer) {
      item.x = Math.max(item.wish, right + item.width / 2);
      right = item.x + item.width / 2 + GAP;
    }
    const shift = layer.reduce((sum, i) => sum + i.wish - i.x, 0) / (layer.length || 1);
    for (const item of layer) item.x += shift;
  };
  for (let turn = 0; turn < 4; ++turn) {
    layers.forEach((layer, l) => settle(layer, n => n.layer < l));
    [...layers].reverse().forEach(layer => settle(layer, n => n.layer > layer[0]?.layer));
  }
}

function show(m) {
  summaries.forEach(s => s.classList.remove('on'));
  summaries[m]?.classList.add('on');
  const graph = itemsOf(m), layers = layered(graph);
  placed(layers, graph.edges);
  const all = layers.flat();
  const left = Math.min(...all.map(i => i.x - i.width / 2), 0) - 8;
  const width = Math.max(...all.map(i => i.x + i.width / 2), 0) - left + 8;
  const height = layers.length * LAYER + 8;
  const y = item => item.layer * LAYER + 8;
  const lines = graph.edges.map(e => {
    const points = e.points.map((p, i) => ({x: p.x - left,
      top: y(p), bottom: y(p) + (p.bend ? 0 : HEIGHT)}));
    let d = `M${points[0].x},${points[0].bottom}`;
    for (let i = 1; i < points.length; ++i) {
      const [a, b] = [points[i - 1], points[i]], middle = (a.bottom + b.top) / 2;
      d += `C${a.x},${middle} ${b.x},${middle} ${b.x},${b.top}`;
      if (i + 1 < points.length) d += `L${b.x},${b.bottom}`;
    }
    return draw('path', {d, 'marker-end': 'url(#tip)'}, draw('title', {}, e.title));
  });
  const short = (text, width) => text.length * 6.4 > width ? text.slice(0, width / 6.4) + '\u2026' : text;
  const boxes = graph.items.map(i => {
    const kind = i.end ? 'end' : i.module !== undefined ? 'module' : HEAVY.test(i.text) ? 'heavy' : '';
    const box = draw('g', {class: kind, transform: `translate(${i.x - left - i.width / 2},${y(i)})`},
      draw('rect', {width: i.width, height: HEIGHT, rx: i.end ? 16 : 5}),
      draw('text', {x: i.width / 2, y: i.sub ? 15 : 21}, short(i.text, i.width + 16)),
      draw('text', {x: i.width / 2, y: 28, class: 'sub'}, short(i.sub || '', i.width + 30)),
      draw('title', {}, i.title));
    if (i.module !== undefined) box.addEventListener('click', () => show(i.module));
    return box;
  });
  const tip = draw('marker', {id: 'tip', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 6,
    markerHeight: 6, orient: 'auto'}, draw('path', {d: 'M0,0L6,3L0,6', style: 'fill:var(--edge)'}));
  const svg = draw('svg', {width, height, viewBox: `0 0 ${width} ${height}`},
    draw('defs', {}, tip), ...lines, ...boxes);
  const area = document.getElementById('drawing');
  area.replaceChildren(svg);
  let scale = 1;
  const zoom = to => { scale = to; svg.setAttribute('width', width * to); svg.setAttribute('height', height * to); };
  const fit = () => {  // as far as it can still be read
    zoom(Math.max(0.45, Math.min(1, (area.clientWidth - 34) / width)));
    area.scrollLeft = (area.scrollWidth - area.clientWidth) / 2;
  };
  document.getElementById('fit').onclick = fit;
  document.getElementById('in').onclick = () => zoom(scale * 1.25);
  document.getElementById('out').onclick = () => zoom(scale / 1.25);
  fit();
  area.scrollTop = 0;
  const chain = [];
  for (let at = m; at >= 0; at = modules[at].parent) chain.unshift(modules[at].name || 'model');
  document.getElementById('path').textContent = chain.join(' \u203a ') +
    (graph.items.length >= MAX ? ` (the first ${MAX} boxes)` : '');
  const up = document.getElementById('up');
  up.disabled = m === 0;
  up.onclick = () => show(modules[m].parent);
  const counts = new Map();
  for (const i of graph.inside) counts.set(nodes[i].op, (counts.get(nodes[i].op) ?? 0) + 1);
  const weights = modules[m].weights.map(v => make('tr', {}, make('td', {}, make('code', {}, values[v].name)),
    make('td', {}, size(values[v].bytes)), make('td', {}, values[v].type)));
  document.getElementById('more').replaceChildren(
    make('table', {}, ...[...counts].sort((a, b) => b[1] - a[1]).map(([op, count]) =>
      make('tr', {}, make('td', {}, op), make('td', {}, String(count))))),
    make('table', {}, ...weights));
}
document.querySelector('nav').append(branch(0));
// "model.html#encoder.layer.0" begins at that module.
const wanted = decodeURIComponent(location.hash.slice(1));
show(Math.max(0, modules.findIndex(m => m.path === wanted)));
)js";

}  // namespace sardonyx::cli
