// Coordinates of a group's boxes. Layers and their order are the page's data; where boxes stand
// depends on which groups are expanded.
import {BEND, GROUP, IN, NODE, OUT, className, plural} from './data.js';

const LABEL_ROOM = 80, GAP = 18, BEND_GAP = 9, LAYER_GAP = 40, PADDING = 16;
export const HEADER = 28;
const CENTERING = 0.04;

// Widths are estimates, so that no font has to be there: a page looks the same everywhere.
export const textWidth = (text, size) => text.length * size * 0.6;

export function labelsOf(model, kind, index) {
  if (kind === NODE) {
    const node = model.nodes[index];
    const sub = node.attributes.map(([name, value]) => `${name}=${value}`).join(', ');
    return [node.op, sub];
  }
  if (kind === GROUP) {
    const group = model.groups[index];
    const what = [className(group.type), plural(group.nodeCount, 'node')].filter(Boolean);
    return [model.titleOf(index), what.join(' · ')];
  }
  return [model.values[index].name, model.values[index].type];
}

function sizeOf(model, kind, index, isWhole) {
  if (kind === BEND) return [2, 0];
  if ((kind === IN || kind === OUT) && !isWhole) return [8, 0];
  const [title, sub] = labelsOf(model, kind, index);
  const mark = kind === GROUP ? 22 : 0;
  const width = Math.max(textWidth(title, 13) + mark, Math.min(textWidth(sub, 10.5), 150)) + 20;
  return [Math.min(Math.max(width, 56), 240), kind === NODE && !sub ? 28 : 40];
}

// A group's boxes, in coordinates that begin at its upper left corner.
export class Arrangement {
  constructor(model, group, inner) {
    const {places} = group, count = places.length / 3;
    this.group = group;
    this.count = count;
    this.inner = inner;  // of the groups in it that are expanded, by place
    this.kind = new Uint8Array(count);
    this.index = new Int32Array(count);
    this.layer = new Int32Array(count);
    this.x = new Float64Array(count);  // of the center
    this.width = new Float64Array(count);
    this.height = new Float64Array(count);
    this.placeOf = new Map();
    this.layerBegin = [];
    const isWhole = group.parent < 0;
    for (let i = 0; i < count; ++i) {
      this.kind[i] = places[3 * i];
      this.index[i] = places[3 * i + 1];
      this.layer[i] = places[3 * i + 2];
      while (this.layerBegin.length <= this.layer[i]) this.layerBegin.push(i);
      if (this.kind[i] !== BEND) this.placeOf.set(this.kind[i] + ':' + this.index[i], i);
      const within = inner.get(i);
      [this.width[i], this.height[i]] =
        within ? [within.totalWidth, within.totalHeight] : sizeOf(model, this.kind[i], this.index[i], isWhole);
    }
    this.layerBegin.push(count);
    this.links = linksOf(this, group.near);
    this.farLinks = linksOf(this, group.far);
    this.#stack(isWhole);
    this.#spread();
  }

  get layerCount() {
    return this.layerBegin.length - 1;
  }

  // Layers from top to bottom.
  #stack(isWhole) {
    this.top = new Float64Array(this.layerCount);
    this.bottom = new Float64Array(this.layerCount);
    let y = isWhole ? PADDING : 0;
    for (let layer = 0; layer < this.layerCount; ++layer) {
      let tallest = 0;
      for (let i = this.layerBegin[layer]; i < this.layerBegin[layer + 1]; ++i) {
        tallest = Math.max(tallest, this.height[i]);
      }
      // The header stands above everything but what enters the group.
      if (!isWhole && layer === 0 && tallest > 0) y += HEADER + 6;
      this.top[layer] = y;
      this.bottom[layer] = y + tallest;
      y += tallest + LAYER_GAP + (!isWhole && layer === 0 && tallest === 0 ? HEADER - 8 : 0);
    }
    const last = this.layerCount - 1;
    // What leaves the group stands on its lower edge.
    const flush = !isWhole && last > 0 && this.bottom[last] === this.top[last];
    this.totalHeight = Math.max(y - LAYER_GAP + (flush ? 0 : PADDING), HEADER + PADDING);
  }

  #spread() {
    for (let layer = 0; layer < this.layerCount; ++layer) {
      let x = 0;
      for (let i = this.layerBegin[layer]; i < this.layerBegin[layer + 1]; ++i) {
        if (i > this.layerBegin[layer]) x += separation(this, i - 1, i);
        this.x[i] = x;
      }
      for (let i = this.layerBegin[layer]; i < this.layerBegin[layer + 1]; ++i) this.x[i] -= x / 2;
    }
    const pulls = new Pulls(this);
    const sweeps = this.count > 20000 ? 6 : this.count > 2000 ? 8 : 16;
    for (let sweep = 0; sweep < sweeps; ++sweep) {
      // Down, up, and at last by both sides, which makes lines straight.
      const isDown = sweep % 2 === 0, isLate = sweep >= sweeps / 2;
      for (let l = 0; l < this.layerCount; ++l) {
        const layer = isDown ? l : this.layerCount - 1 - l;
        pulls.settle(layer, isDown || isLate, !isDown || isLate, isLate ? 0 : CENTERING);
      }
    }
    this.#shift();
  }

  #shift() {
    let left = Infinity, right = -Infinity;
    for (let i = 0; i < this.count; ++i) {
      left = Math.min(left, this.x[i] - this.width[i] / 2);
      right = Math.max(right, this.x[i] + this.width[i] / 2);
    }
    if (!this.count) left = right = 0;
    const title = this.group.parent < 0 ? 0 : textWidth(this.group.name + this.group.type, 12) * 0.6 + 60;
    this.totalWidth = Math.max(right - left + 2 * PADDING, Math.min(title, 260), 90);
    const shift = (this.totalWidth - (right - left)) / 2 - left;
    for (let i = 0; i < this.count; ++i) this.x[i] += shift;
  }

  // Where a value enters or leaves an expanded group, from the group's center; 0 for other boxes.
  portOffset(place, kind, value) {
    const within = this.inner.get(place);
    if (!within) return 0;
    const port = within.placeOf.get(kind + ':' + value);
    return port === undefined ? 0 : within.x[port] - within.totalWidth / 2;
  }

  boxOf(place) {
    return {x: this.x[place] - this.width[place] / 2, y: this.top[this.layer[place]],
            width: this.width[place], height: this.height[place]};
  }
}

// By the layer that they begin in.
function linksOf(arrangement, rows) {
  const links = [];
  for (let i = 0; i < rows.length; i += 3) {
    const from = rows[i], to = rows[i + 1], value = rows[i + 2];
    links.push({from, to, value,
                start: arrangement.portOffset(from, OUT, value),
                end: arrangement.portOffset(to, IN, value), label: false});
  }
  links.sort((a, b) => a.from - b.from || a.value - b.value);
  // The first link of a value has its shape.
  links.forEach((link, i) => {
    // What enters a group has its shape outside.
    const isLabeled = arrangement.kind[link.from] <= GROUP || arrangement.group.parent < 0;
    const isBend = arrangement.kind[link.from] === BEND, before = links[i - 1];
    const isFirst = !before || before.from !== link.from;
    // Where several values leave a box at one place, one label has room.
    const hasRoom = isFirst || Math.abs(link.start - before.start) > LABEL_ROOM;
    link.label = isLabeled && !isBend && hasRoom && (isFirst || before.value !== link.value);
  });
  return links;
}

function separation({kind, width}, a, b) {
  const isBend = kind[a] === BEND && kind[b] === BEND;
  return (width[a] + width[b]) / 2 + (isBend ? BEND_GAP : GAP);
}

// Draws boxes to the boxes that they are linked with: within a layer, the places with the least
// sum of squared distances that keep order and gaps (isotonic regression, pooling violators).
class Pulls {
  constructor(arrangement) {
    this.at = arrangement;
    this.above = grouped(arrangement, link => [link.to, link.from, link.start - link.end]);
    this.below = grouped(arrangement, link => [link.from, link.to, link.end - link.start]);
    this.sum = new Float64Array(arrangement.count);
    this.weight = new Float64Array(arrangement.count);
    this.size = new Int32Array(arrangement.count);
  }

  settle(layer, byAbove, byBelow, centering) {
    const {at, sum, weight, size} = this;
    const begin = at.layerBegin[layer], end = at.layerBegin[layer + 1];
    let blocks = 0, offset = 0;
    for (let i = begin; i < end; ++i) {
      if (i > begin) offset += separation(at, i - 1, i);
      const [wish, strength] = this.#wish(i, byAbove, byBelow, centering);
      sum[blocks] = (wish - offset) * strength;
      weight[blocks] = strength;
      size[blocks++] = 1;
      while (blocks > 1 &&
             sum[blocks - 2] * weight[blocks - 1] > sum[blocks - 1] * weight[blocks - 2]) {
        --blocks;
        sum[blocks - 1] += sum[blocks];
        weight[blocks - 1] += weight[blocks];
        size[blocks - 1] += size[blocks];
      }
    }
    offset = 0;
    for (let block = 0, i = begin; block < blocks; ++block) {
      for (let k = 0; k < size[block]; ++k, ++i) {
        if (i > begin) offset += separation(at, i - 1, i);
        at.x[i] = sum[block] / weight[block] + offset;
      }
    }
  }

  #wish(i, byAbove, byBelow, centering) {
    const {kind, x} = this.at, isBend = kind[i] === BEND;
    let sum = 0, weight = 0;
    for (const side of [byAbove ? this.above : null, byBelow ? this.below : null]) {
      if (!side) continue;
      for (let k = side.begin[i]; k < side.begin[i + 1]; ++k) {
        const other = side.other[k];
        // Edges over several layers are to be straight, and boxes stand below boxes.
        const pull = kind[other] !== BEND ? 1 : isBend ? 8 : 0.2;
        sum += pull * (x[other] + side.offset[k]);
        weight += pull;
      }
    }
    // A little to the middle, else a long graph would drift aside layer by layer.
    return weight ? [sum / weight * (isBend ? 1 : 1 - centering), weight] : [x[i], 0.05];
  }
}

// Links by one of their ends: `ends` gives that place, the other one, and how far they are shifted.
function grouped({count, links}, ends) {
  const begin = new Int32Array(count + 1);
  for (const link of links) ++begin[ends(link)[0] + 1];
  for (let i = 0; i < count; ++i) begin[i + 1] += begin[i];
  const next = begin.slice(), other = new Int32Array(links.length);
  const offset = new Float64Array(links.length);
  for (const link of links) {
    const [place, far, shift] = ends(link);
    other[next[place]] = far;
    offset[next[place]++] = shift;
  }
  return {begin, other, offset};
}

// Arrangements of the groups that are expanded, made again only where something changed.
export class Arranger {
  #model;
  #made = new Map();

  constructor(model) {
    this.#model = model;
    this.expanded = new Set(model.roots.map(root => root.id));
  }

  of(group) {
    const made = this.#made.get(group);
    if (made) return made;
    const {places} = this.#model.groups[group], inner = new Map();
    for (let i = 0; i < places.length; i += 3) {
      if (places[i] === GROUP && this.expanded.has(places[i + 1])) {
        inner.set(i / 3, this.of(places[i + 1]));
      }
    }
    const arrangement = new Arrangement(this.#model, this.#model.groups[group], inner);
    this.#made.set(group, arrangement);
    return arrangement;
  }

  set(group, isExpanded) {
    if (this.expanded.has(group) === isExpanded) return;
    if (isExpanded) this.expanded.add(group);
    else this.expanded.delete(group);
    for (const each of this.#model.chain(group).slice(0, -1)) this.#made.delete(each);
  }

  // Whole levels are expanded for as long as there are few boxes.
  expandFirst(root, most) {
    let level = [root], shown = boxes(this.#model.groups[root]);
    while (level.length) {
      const next = level.flatMap(group => childGroups(this.#model.groups[group]));
      shown += next.reduce((sum, group) => sum + boxes(this.#model.groups[group]), 0);
      if (shown > most) return;
      for (const group of next) this.set(group, true);
      level = next;
    }
  }
}

const boxes = group => group.places.filter((kind, i) => i % 3 === 0 && kind <= GROUP).length;

export function childGroups({places}) {
  const found = [];
  for (let i = 0; i < places.length; i += 3) if (places[i] === GROUP) found.push(places[i + 1]);
  return found;
}
