// Draws what is seen of a model, with whatever pen.
import {BEND, GROUP, IN, NODE, className, shapeText} from './data.js';
import {labelsOf, textWidth} from './arranging.js';
import {curveOf, isPort, layersBetween, linksBetween, placesBetween} from './scene.js';
import {ends, linkColors} from './trails.js';

const TITLE = 13, SUB = 10.5, LABEL = 10;

export class Painter {
  // `seen` is a rectangle in the picture's coordinates; `scale` says what would be too small to see.
  constructor(pen, {model, theme, coloring, marks, seen, scale}) {
    Object.assign(this, {pen, model, theme, coloring, marks, seen, scale});
  }

  paint(arrangement) {
    this.#group(arrangement, 0, 0);
  }

  #group(arrangement, dx, dy) {
    const {seen} = this;
    const [first, end] = layersBetween(arrangement, seen.y - dy - 40, seen.y + seen.height - dy + 40);
    this.#edges(arrangement, first, end, dx, dy);
    for (let layer = first; layer < end; ++layer) {
      const [begin, behind] = placesBetween(arrangement, layer, seen.x - dx, seen.x + seen.width - dx);
      for (let i = begin; i < behind; ++i) {
        if (arrangement.kind[i] !== BEND) this.#item(arrangement, i, dx, dy);
      }
    }
  }

  // --- edges

  #edges(arrangement, first, end, dx, dy) {
    const {scale, theme, marks, seen} = this;
    if (scale < 0.02) return;  // lines would be all there is
    const plain = [], marked = [], onPath = [], tips = [[], [], []], labels = [];
    const [begin, behind] = linksBetween(arrangement, first - 1, end);
    const colors = marks.colorsOf(arrangement);
    for (let i = begin; i < behind; ++i) {
      const link = arrangement.links[i];
      const points = curveOf(arrangement, link, dx, dy);
      if (Math.min(points[0], points[6]) > seen.x + seen.width ||
          Math.max(points[0], points[6]) < seen.x) continue;
      const kind = colors[i];
      [plain, marked, onPath][kind].push(points);
      const {kind: kinds} = arrangement;
      if (scale > 0.3 && kinds[link.to] !== BEND && !isPort(kinds[link.to])) {
        tips[kind].push([points[6], points[7]]);
      }
      if (link.label && scale > 0.5) labels.push([points[0] + 5, points[1] + 12, link.value]);
    }
    this.pen.curves(plain, {stroke: theme.edge, line: Math.max(1, 0.6 / scale)});
    this.pen.curves(marked, {stroke: theme.mark, line: Math.max(2, 1.2 / scale)});
    this.pen.curves(onPath, {stroke: theme.path, line: Math.max(2.5, 1.5 / scale)});
    [theme.edge, theme.mark, theme.path].forEach((fill, i) => this.pen.triangles(tips[i], {fill}));
    this.#labels(labels);
    this.#far(arrangement, dx, dy);
  }

  // From left to right; one that would lie over another one is left out.
  #labels(labels) {
    const free = new Map();  // how far each line is full
    for (const [x, y, value] of labels) {
      const text = fitted(shapeText(this.model.values[value].type), LABEL, 130);
      if (text === '?' || x < (free.get(y) ?? -Infinity)) continue;
      free.set(y, x + textWidth(text, LABEL));
      this.pen.text(x, y, text, {size: LABEL, color: this.theme.faint});
    }
  }

  // What leads back or very far is drawn where it is marked, and is a stub at either end else.
  #far(arrangement, dx, dy) {
    const {theme, marks, seen} = this;
    if (this.scale < 0.3) return;
    const plain = [], marked = [];
    for (const link of arrangement.farLinks) {
      const points = curveOf(arrangement, link, dx, dy);
      const [ax, ay, , , , , bx, by] = points;
      const isMarked = marks.trails.some(trail => trail.values.has(link.value) &&
        ends(trail, arrangement.kind[link.to], arrangement.index[link.to]));
      if (isMarked) {
        const aside = 60 + Math.abs(ax - bx) / 4;
        marked.push([ax, ay, ax + aside, ay + 40, bx + aside, by - 40, bx, by]);
      } else {
        if (ay > seen.y && ay < seen.y + seen.height) plain.push([ax, ay, ax, ay + 6, ax, ay + 10, ax, ay + 14]);
        if (by > seen.y && by < seen.y + seen.height) plain.push([bx, by - 14, bx, by - 10, bx, by - 6, bx, by]);
      }
    }
    this.pen.curves(plain, {stroke: theme.edge, dash: [2, 2]});
    this.pen.curves(marked, {stroke: theme.mark, line: 2, dash: [5, 4]});
  }

  // --- boxes

  #item(arrangement, place, dx, dy) {
    const kind = arrangement.kind[place], index = arrangement.index[place];
    const local = arrangement.boxOf(place);
    const box = {...local, x: local.x + dx, y: local.y + dy};
    const within = arrangement.inner.get(place);
    if (within) return this.#expanded(within, index, box);
    if (isPort(kind)) return this.#value(arrangement, kind, index, box);
    const {theme, marks, scale} = this;
    const isNode = kind === NODE;
    const node = isNode ? this.model.nodes[index] : this.#ownerOf(index);
    const fill = node ? theme.fill(this.coloring.colorOf(this.model, node)) : this.#groupFill(index);
    const style = this.#frame(isNode ? marks.nodes : marks.groups, index, isNode);
    if (scale < 0.12) return this.pen.box(box, {fill: style.isMarked ? style.stroke : fill});
    this.pen.box(box, {...style, fill, radius: isNode ? 5 : 8});
    if (scale > 0.28) this.#words(kind, index, box, node);
  }

  #groupFill(group) {
    const color = this.coloring.groupColor?.(this.model, group) ?? null;
    return color === null ? this.theme.group : this.theme.fill(color);
  }

  #ownerOf(group) {
    const {node} = this.model.groups[group];
    return node >= 0 ? this.model.nodes[node] : null;
  }

  #frame({selected, found, path}, index, isNode) {
    const {theme, scale} = this, line = Math.max(2.5, 2 / scale);
    if (selected.has(index)) return {stroke: theme.mark, line, isMarked: true};
    if (path.has(index)) return {stroke: theme.path, line, isMarked: true};
    if (found.has(index)) return {stroke: theme.found, line, isMarked: true};
    return {stroke: isNode ? theme.line : theme.mark, line: 1};
  }

  #words(kind, index, {x, y, width, height}, node) {
    const {theme, pen} = this;
    let [title, sub] = labelsOf(this.model, kind, index);
    const measured = this.coloring.measure?.(this.model, kind === GROUP, index);
    if (measured && height > 30) sub = measured;
    const isGroup = kind === GROUP;
    const room = width - 12 - (isGroup ? 18 : 0), middle = x + width / 2 + (isGroup ? 7 : 0);
    const color = theme.text;
    if (isGroup) pen.text(x + 9, y + height / 2 + 5, '▸', {size: 14, color: theme.mark, weight: 600});
    pen.text(middle, y + (sub ? 17 : height / 2 + 4.5), fitted(title, TITLE, room),
             {size: TITLE, color, weight: isGroup || node ? 600 : 500, align: 'center'});
    if (sub && this.scale > 0.45) {
      pen.text(middle, y + 31, fitted(sub, SUB, room), {size: SUB, color: theme.faint, align: 'center'});
    }
  }

  // What enters or leaves: a pill at the outside, a dot on the edge of a group.
  #value(arrangement, kind, index, box) {
    const {theme, pen, scale, marks} = this;
    const isMarked = marks.values.has(index);
    if (arrangement.group.parent >= 0) {
      if (scale < 0.3) return;
      const dot = {x: box.x + 1, y: box.y - 3, width: 6, height: 6};
      return pen.box(dot, {fill: isMarked ? theme.mark : theme.edge, radius: 3});
    }
    pen.box(box, {fill: theme.back, stroke: isMarked ? theme.mark : theme.edge,
                  line: isMarked ? 2.5 : 1.2, radius: 20, dash: kind === IN ? [] : [4, 3]});
    if (scale > 0.28) this.#words(kind, index, box, null);
  }

  #expanded(within, index, box) {
    const {theme, pen, scale, marks} = this;
    const group = this.model.groups[index];
    const style = this.#frame(marks.groups, index, false);
    pen.box(box, {...style, fill: theme.group, radius: 10});
    if (box.width * scale < 12) return;
    if (scale > 0.25) {
      const type = className(group.type), name = this.model.titleOf(index);
      const room = box.width - 34;
      pen.text(box.x + 9, box.y + 19, '▾', {size: 14, color: theme.mark, weight: 600});
      pen.text(box.x + 25, box.y + 19, fitted(name, 12, room), {size: 12, color: theme.text, weight: 600});
      const used = textWidth(name, 12) * 1.18 + 8;
      if (type && type !== name && room - used > 30) {
        pen.text(box.x + 25 + used, box.y + 19, fitted(type, SUB, room - used), {size: SUB, color: theme.faint});
      }
    }
    this.#group(within, box.x, box.y);
  }
}

// The beginning of a text that fits.
export function fitted(text, size, room) {
  const most = Math.floor(room / (size * 0.6));
  return text.length <= most ? text : text.slice(0, Math.max(most - 1, 1)) + '…';
}

// What is marked: nodes and groups by how, values, and the trails of values to nodes.
export class Marks {
  nodes = {selected: new Set(), found: new Set(), path: new Set()};
  groups = {selected: new Set(), found: new Set(), path: new Set()};
  values = new Set();
  trails = [];
  #colors = new WeakMap();

  colorsOf(arrangement) {
    if (!this.#colors.has(arrangement)) {
      this.#colors.set(arrangement, linkColors(arrangement, this.trails));
    }
    return this.#colors.get(arrangement);
  }
}
