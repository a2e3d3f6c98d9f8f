// What of an arrangement is seen, what stands at a point, and where a node is.
import {BEND, GROUP, IN, NODE, OUT} from './data.js';
import {HEADER} from './arranging.js';

// The first index at which `test` holds, of those where it goes from false to true.
export function firstWhere(begin, end, test) {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (test(middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

// Layers between two heights, as [first, behind the last].
export function layersBetween(arrangement, top, bottom) {
  const count = arrangement.layerCount;
  return [firstWhere(0, count, layer => arrangement.bottom[layer] >= top),
          firstWhere(0, count, layer => arrangement.top[layer] > bottom)];
}

// The places of a layer that overlap a range of x.
export function placesBetween(arrangement, layer, left, right) {
  const begin = arrangement.layerBegin[layer], end = arrangement.layerBegin[layer + 1];
  const {x, width} = arrangement;
  return [firstWhere(begin, end, i => x[i] + width[i] / 2 >= left),
          firstWhere(begin, end, i => x[i] - width[i] / 2 > right)];
}

// The links that begin in a range of layers.
export function linksBetween(arrangement, first, end) {
  const {links, layerBegin} = arrangement, last = layerBegin.length - 1;
  const from = layerBegin[Math.min(Math.max(first, 0), last)], to = layerBegin[Math.min(end, last)];
  return [firstWhere(0, links.length, i => links[i].from >= from),
          firstWhere(0, links.length, i => links[i].from >= to)];
}

// The curve of a link as begin, two points that bend it, end; a ninth number: how far it goes
// straight down behind that.
export function curveOf(arrangement, {from, to, start, end}, dx, dy) {
  const {x, top, bottom, layer, height, kind} = arrangement;
  const ax = x[from] + start + dx, bx = x[to] + end + dx;
  const ay = dy + (kind[from] === BEND ? bottom[layer[from]] : top[layer[from]] + height[from]);
  const by = dy + top[layer[to]];
  const half = Math.max((by - ay) / 2, 8);
  const points = [ax, ay, ax, ay + half, bx, by - half, bx, by];
  if (kind[to] === BEND) points.push(dy + bottom[layer[to]]);
  return points;
}

export function pointOn([ax, ay, bx, by, cx, cy, dx, dy], t) {
  const s = 1 - t, [a, b, c, d] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
  return [a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy];
}

// What stands at a point: {kind, index, group, isHeader}, {kind: 'edge', value}, or null.
export function hit(arrangement, px, py, reach) {
  const [first, end] = layersBetween(arrangement, py, py);
  for (let layer = first; layer < end; ++layer) {
    const [begin, behind] = placesBetween(arrangement, layer, px, px);
    for (let i = begin; i < behind; ++i) {
      const box = arrangement.boxOf(i);
      if (arrangement.kind[i] === BEND || py > box.y + box.height) continue;
      const here = {kind: arrangement.kind[i], index: arrangement.index[i],
                    group: arrangement.group.id,
                    isMark: arrangement.kind[i] === GROUP && px < box.x + 24 && py < box.y + HEADER + 8};
      const within = arrangement.inner.get(i);
      if (within) return hit(within, px - box.x, py - box.y, reach) ?? here;
      return here;
    }
  }
  return edgeAt(arrangement, px, py, reach);
}

function edgeAt(arrangement, px, py, reach) {
  const after = firstWhere(0, arrangement.layerCount, layer => arrangement.top[layer] > py);
  const [begin, end] = linksBetween(arrangement, after - 1, after);
  let best = null, least = reach;
  for (let i = begin; i < end; ++i) {
    const points = curveOf(arrangement, arrangement.links[i], 0, 0);
    if (px < Math.min(points[0], points[6]) - reach || px > Math.max(points[0], points[6]) + reach) continue;
    for (let t = 0; t <= 1; t += 0.05) {
      const [x, y] = pointOn(points, t), far = Math.hypot(x - px, y - py);
      if (far < least) [least, best] = [far, arrangement.links[i]];
    }
  }
  return best && {kind: 'edge', value: best.value};
}

// Where an item is drawn, whose groups must be expanded: a box in the root's coordinates.
export function boxIn(arranger, model, group, kind, index) {
  const chain = model.chain(group);
  let x = 0, y = 0, arrangement = arranger.of(chain[0]);
  for (const inner of chain.slice(1)) {
    const place = arrangement.placeOf.get(GROUP + ':' + inner);
    if (place === undefined || !arrangement.inner.has(place)) return null;
    const box = arrangement.boxOf(place);
    x += box.x;
    y += box.y;
    arrangement = arrangement.inner.get(place);
  }
  const place = arrangement.placeOf.get(kind + ':' + index);
  if (place === undefined) return null;
  const box = arrangement.boxOf(place);
  return {...box, x: box.x + x, y: box.y + y};
}

// What is drawn for a node: the node itself, or the outermost group around it that is collapsed.
export function shownFor(arranger, model, node) {
  const {group, expands} = model.nodes[node];
  const chain = model.chain(group);
  for (let i = 1; i < chain.length; ++i) {
    if (!arranger.expanded.has(chain[i])) return {group: chain[i - 1], kind: GROUP, index: chain[i]};
  }
  return expands >= 0 ? {group, kind: GROUP, index: expands} : {group, kind: NODE, index: node};
}

export function boxOfNode(arranger, model, node) {
  const {group, kind, index} = shownFor(arranger, model, node);
  return boxIn(arranger, model, group, kind, index);
}

export function boxOfGroup(arranger, model, group) {
  const {parent} = model.groups[group];
  if (parent < 0) {
    const {totalWidth, totalHeight} = arranger.of(group);
    return {x: 0, y: 0, width: totalWidth, height: totalHeight};
  }
  return boxIn(arranger, model, parent, GROUP, group);
}

export const isPort = kind => kind === IN || kind === OUT;
