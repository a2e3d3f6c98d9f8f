// One model on one canvas: what of it is expanded, selected and seen.
import {GROUP, IN, NODE, OUT} from './data.js';
import {Arranger} from './arranging.js';
import {Camera, listenTo} from './camera.js';
import {CanvasPen} from './pens.js';
import {Marks, Painter} from './painting.js';
import {boxOfGroup, boxOfNode, hit} from './scene.js';
import {pathsBetween} from './paths.js';
import {trailTo} from './trails.js';

const FIRST_BOXES = 70;  // that are shown at first, in expanded modules
const READABLE = 0.45, WELL_READABLE = 0.6;
const TOOLS = 84;  // pixels at the bottom, where buttons are

export class View {
  selection = null;  // {kind: 'node' | 'group' | 'value', index}
  found = [];
  path = null;
  #frame = 0;

  constructor(model, canvas, {coloring, theme, onSelect, onMove, onTip}) {
    Object.assign(this, {model, canvas, coloring, theme, onSelect, onTip});
    this.arranger = new Arranger(model);
    this.camera = new Camera(() => {
      onMove?.(this);
      this.draw();
    });
    this.root = model.roots[0].id;
    this.arranger.expandFirst(this.root, FIRST_BOXES);
    this.marks = new Marks();
    this.map = new Overview(this);
    listenTo(canvas, this.camera, {
      onClick: (x, y, event) => this.#click(x, y, event),
      onDoubleClick: (x, y) => this.#doubleClick(x, y),
      onHover: (x, y) => this.#hover(x, y),
    });
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement);
    this.#resize();
    this.fit();
  }

  get arrangement() {
    return this.arranger.of(this.root);
  }

  // --- drawing

  draw() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.#frame = 0;
    const context = this.canvas.getContext('2d', {alpha: false}), {scale, x, y} = this.camera;
    const ratio = this.ratio;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.theme.back;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(scale * ratio, 0, 0, scale * ratio, -x * scale * ratio, -y * scale * ratio);
    this.painter(new CanvasPen(context), this.seen(), scale).paint(this.arrangement);
    this.map.draw();
    this.frames = (this.frames ?? 0) + 1;
  }

  painter(pen, seen, scale) {
    return new Painter(pen, {...this, seen, scale});
  }

  seen() {
    const {x, y, scale} = this.camera;
    return {x, y, width: this.width / scale, height: this.height / scale};
  }

  // What was in the middle stays there.
  #resize() {
    const {clientWidth, clientHeight} = this.canvas.parentElement, {camera} = this;
    if (camera.isMoved && this.width) {
      camera.x += (this.width - clientWidth) / 2 / camera.scale;
      camera.y += (this.height - clientHeight) / 2 / camera.scale;
    }
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = clientWidth;
    this.height = clientHeight;
    this.canvas.width = Math.max(1, Math.round(clientWidth * this.ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * this.ratio));
    if (!camera.isMoved && clientWidth) this.fit();
    this.#paint();
  }

  // Observers come late, after what is opened next to the canvas.
  #measure() {
    const {clientWidth, clientHeight} = this.canvas.parentElement;
    if (clientWidth !== this.width || clientHeight !== this.height) this.#resize();
  }

  // --- where the camera goes

  // The whole where that can be read well; else the whole in width, as far as it can be read, from
  // the top.
  fit() {
    const {totalWidth, totalHeight} = this.arrangement;
    const free = this.height - TOOLS;
    const all = Math.min(this.width / (totalWidth + 40), free / totalHeight);
    const wide = Math.min(this.width / (totalWidth + 40), 1);
    const scale = Math.min(all > WELL_READABLE ? all : Math.max(wide, READABLE), 1.1);
    this.camera.set({scale, x: totalWidth / 2 - this.width / scale / 2,
                     y: Math.min(0, totalHeight / 2 - free / scale / 2)});
    this.camera.isMoved = false;
  }

  overview() {
    const {totalWidth, totalHeight} = this.arrangement;
    const scale = Math.max(Math.min(this.width / totalWidth, this.height / totalHeight, 1) * 0.96, 0.004);
    this.camera.moveTo({scale, x: totalWidth / 2 - this.width / scale / 2,
                        y: totalHeight / 2 - this.height / scale / 2});
  }

  moveTo(box, scale = Math.max(this.camera.scale, 0.9)) {
    this.#measure();
    const fits = Math.min(this.width / (box.width + 40), this.height / (box.height + 60));
    const goal = Math.max(Math.min(scale, fits), Math.min(scale, READABLE));
    const isTall = box.height * goal > this.height - 40;
    this.camera.moveTo({scale: goal, x: box.x + box.width / 2 - this.width / goal / 2,
                        y: isTall ? box.y - 20 / goal : box.y + box.height / 2 - this.height / goal / 2});
  }

  // Where what is selected or could be stands on the canvas; null where it is not shown.
  boxOnScreen({kind, index}) {
    const box = kind === 'node' ? boxOfNode(this.arranger, this.model, index)
      : boxOfGroup(this.arranger, this.model, index);
    const {x, y, scale} = this.camera;
    return box && {x: (box.x - x) * scale, y: (box.y - y) * scale,
                   width: box.width * scale, height: box.height * scale};
  }

  // --- expanding

  // What was under the pointer stays there.
  toggle(group, isExpanded = !this.arranger.expanded.has(group)) {
    if (this.model.groups[group].parent < 0) return;
    const before = boxOfGroup(this.arranger, this.model, group);
    this.arranger.set(group, isExpanded);
    const after = boxOfGroup(this.arranger, this.model, group);
    this.#changed();
    if (!before || !after) return this.draw();
    const {x, y, scale} = this.camera;
    this.camera.set({scale, x: x + after.x + after.width / 2 - before.x - before.width / 2,
                     y: y + after.y - before.y});
  }

  expandAll(isExpanded) {
    for (const group of this.model.groups) {
      if (group.parent >= 0 && this.model.rootOf(group.id) === this.root) {
        this.arranger.set(group.id, isExpanded);
      }
    }
    this.#changed();
    this.fit();
  }

  #reveal(group) {
    const chain = this.model.chain(group);
    if (chain[0] !== this.root) this.root = chain[0];
    for (const each of chain) this.arranger.set(each, true);
    this.#changed();
  }

  #changed() {
    this.map.forget();
    this.draw();
  }

  showRoot(root) {
    this.root = root;
    this.arranger.expandFirst(root, FIRST_BOXES);
    this.#changed();
    this.fit();
    this.select({kind: 'group', index: root}, {move: false});
  }

  // --- selecting

  select(selection, {move = true, quiet = false} = {}) {
    this.selection = selection;
    if (selection && move) this.#show(selection);
    this.#mark();
    if (!quiet) this.onSelect(this, selection);
  }

  #show({kind, index}) {
    const {model, arranger} = this;
    if (kind === 'node') {
      this.#reveal(model.nodes[index].group);
      const box = boxOfNode(arranger, model, index);
      if (box) this.moveTo(box);
    } else if (kind === 'group') {
      const {parent} = model.groups[index];
      this.#reveal(parent < 0 ? index : parent);
      const box = boxOfGroup(arranger, model, index);
      if (box) this.moveTo(box);
    } else {
      const {producer, readers} = model.values[index];
      const node = producer >= 0 ? producer : readers[0];
      if (node !== undefined) this.#show({kind: 'node', index: node});
    }
  }

  setFound(entries) {
    this.found = entries;
    this.#mark();
  }

  showPath(from, to) {
    this.path = pathsBetween(this.model, from, to);
    this.#mark();
    return this.path;
  }

  clearPath() {
    this.path = null;
    this.#mark();
  }

  #mark() {
    const marks = new Marks(), {model, selection, path} = this;
    for (const {kind, index} of this.found) {
      if (kind === 'node') marks.nodes.found.add(index);
      if (kind === 'group') marks.groups.found.add(index);
    }
    if (selection?.kind === 'node') markNode(model, marks, selection.index);
    if (selection?.kind === 'group') marks.groups.selected.add(selection.index);
    if (selection?.kind === 'value') {
      marks.values.add(selection.index);
      marks.trails.push(trailTo(model, new Set([selection.index]), null, 1));
      for (const reader of model.values[selection.index].readers) marks.nodes.found.add(reader);
    }
    if (path) {
      marks.nodes.path = path.nodes;
      const trail = trailTo(model, path.values, path.nodes, 2);
      marks.groups.path = trail.groups;
      marks.trails.push(trail);
    }
    this.marks = marks;
    this.draw();
  }

  // --- what people do with the pointer

  #at(x, y) {
    const [px, py] = this.camera.toPicture(x, y);
    return hit(this.arrangement, px, py, 7 / this.camera.scale);
  }

  #click(x, y, event) {
    const at = this.#at(x, y);
    if (at?.isMark) return this.toggle(at.index);
    const isNode = at?.kind === NODE;
    if (isNode && event.shiftKey && this.selection?.kind === 'node') {
      return this.onPath?.(this.selection.index, at.index);
    }
    this.select(selectionOf(at), {move: false});
  }

  #doubleClick(x, y) {
    const at = this.#at(x, y);
    if (at?.kind === GROUP) this.toggle(at.index);
    else this.camera.zoom(1.6, x, y);
  }

  #hover(x, y) {
    const at = this.#at(x, y);
    this.canvas.style.cursor = at ? 'pointer' : 'grab';
    this.onTip(this, at && at.kind !== GROUP ? selectionOf(at) : null, x, y);
  }
}

function selectionOf(at) {
  if (!at) return null;
  if (at.kind === NODE) return {kind: 'node', index: at.index};
  if (at.kind === GROUP) return {kind: 'group', index: at.index};
  if (at.kind === IN || at.kind === OUT) return {kind: 'value', index: at.index};
  return {kind: 'value', index: at.value};
}

function markNode(model, marks, index) {
  const node = model.nodes[index], known = values => new Set(values.filter(value => value >= 0));
  if (node.expands >= 0) marks.groups.selected.add(node.expands);
  marks.nodes.selected.add(index);
  marks.trails.push(trailTo(model, known(node.inputs), new Set([index]), 1),
                    trailTo(model, known(node.outputs), null, 1));
}

// The whole graph small, with what is seen of it.
class Overview {
  #picture = null;

  constructor(view) {
    this.view = view;
    this.canvas = view.canvas.parentElement.querySelector('.overview');
    const move = event => {
      if (!event.buttons) return;
      const box = this.canvas.getBoundingClientRect(), {camera} = view;
      camera.set({scale: camera.scale,
                  x: (event.clientX - box.left) / this.scale - view.width / camera.scale / 2,
                  y: (event.clientY - box.top) / this.scale - view.height / camera.scale / 2});
    };
    this.canvas.addEventListener('pointerdown', event => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener('pointermove', move);
  }

  forget() {
    this.#picture = null;
  }

  draw() {
    const {view} = this, {totalWidth, totalHeight} = view.arrangement;
    const room = view.width < 620 ? 50 : 100;
    this.scale = Math.min(room / totalWidth, (view.height - 110) * (room < 100 ? 0.5 : 0.75) / totalHeight, 0.25);
    const width = Math.ceil(totalWidth * this.scale), height = Math.ceil(totalHeight * this.scale);
    const seen = view.seen();
    const isWhole = seen.width >= totalWidth && seen.height >= totalHeight;
    this.canvas.hidden = isWhole || view.height < 260 || view.width < 330 || width < 2;
    if (this.canvas.hidden) return;
    if (!this.#picture || this.#picture.of !== view.coloring || this.#picture.theme !== view.theme ||
        this.#picture.width !== Math.max(width, 14) || this.#picture.height !== height) {
      this.#picture = this.#drawn(Math.max(width, 14), height);
    }
    Object.assign(this.canvas, {width: this.#picture.width, height});
    const context = this.canvas.getContext('2d');
    context.drawImage(this.#picture.canvas, 0, 0);
    context.strokeStyle = view.theme.mark;
    context.lineWidth = 2;
    const left = Math.max(seen.x * this.scale, 1), top = Math.max(seen.y * this.scale, 1);
    const right = Math.min((seen.x + seen.width) * this.scale, this.canvas.width - 1);
    const bottom = Math.min((seen.y + seen.height) * this.scale, height - 1);
    context.strokeRect(left, top, right - left, Math.max(bottom - top, 3));
  }

  // Drawn once, with boxes only, until something is expanded.
  #drawn(width, height) {
    const {view} = this, canvas = Object.assign(document.createElement('canvas'), {width, height});
    const context = canvas.getContext('2d'), {totalWidth, totalHeight} = view.arrangement;
    context.fillStyle = view.theme.back;
    context.fillRect(0, 0, width, height);
    context.scale(this.scale, this.scale);
    const whole = {x: 0, y: 0, width: totalWidth, height: totalHeight};
    const painter = new Painter(new CanvasPen(context), {...view, marks: new Marks(),
                                                         seen: whole, scale: Math.min(this.scale, 0.019)});
    painter.paint(view.arrangement);
    return {canvas, width, height, of: view.coloring, theme: view.theme};
  }
}
