// Puts the page together: one view or two, the tree, the panel, the search.
import {MODULE, plural, readPage} from './data.js';
import {colorings, readTheme} from './colors.js';
import {announce, byId, make} from './elements.js';
import {KEYS, press} from './keys.js';
import {Panel} from './panel.js';
import {save} from './saving.js';
import {SearchBox} from './searchbox.js';
import {describe} from './searching.js';
import {Tree} from './tree.js';
import {View} from './view.js';

class Page {
  #pathFrom = null;  // a node, while another one is to be clicked

  constructor() {
    Object.assign(this, readPage(byId('model')));
    this.models.forEach((model, i) => { model.isFirst = i === 0; });
    this.theme = readTheme();
    this.colorings = colorings(this);
    this.panel = new Panel(byId('panel'), this.#actions());
    this.views = this.models.map((model, i) => this.#view(model, i));
    this.active = this.views[0];
    this.searchBox = new SearchBox(found => this.active.setFound(found),
                                   ({kind, index}) => this.active.select({kind, index}));
    this.#header();
    this.#legend();
    this.activate(this.views[0]);
    this.#listen();
    if (!this.#follow(location.hash)) this.#selected(this.active, null);
  }

  counterpartOf(model, node) {
    const {counterparts} = this.alignment;
    return model.isFirst ? counterparts[node] : counterparts.indexOf(node);
  }

  // --- parts

  #view(model, i) {
    const frame = make('section', {className: 'view', 'aria-label': `Graph of ${model.title}`});
    const canvas = make('canvas', {className: 'graph', tabIndex: 0, role: 'application',
      'aria-label': `Graph of ${model.title}, ${plural(model.nodes.length, 'node')}. ` +
                    'Arrow keys move, plus and minus zoom, question mark lists the keys.'});
    frame.append(canvas, make('canvas', {className: 'overview', 'aria-hidden': 'true', hidden: true}));
    if (this.models.length > 1) frame.append(make('h2', {className: 'caption'}, model.title));
    byId('views').append(frame);
    const view = new View(model, canvas, {
      coloring: this.colorings[0], theme: this.theme,
      onSelect: (from, selection) => this.#selected(from, selection),
      onMove: from => this.#moved(from),
      onTip: (from, selection, x, y) => this.#tip(from, selection, x, y),
    });
    view.side = i;
    view.onPath = (from, to) => this.#path(view, from, to);
    canvas.addEventListener('pointerdown', () => this.activate(view));
    canvas.addEventListener('focus', () => this.activate(view));
    canvas.addEventListener('pointerleave', () => { byId('tip').hidden = true; });
    return view;
  }

  #header() {
    const title = this.models.map(model => model.title).join(' ↔ ');
    byId('title').textContent = title;
    byId('title').title = title;
    const select = byId('coloring');
    select.append(...this.colorings.map(({title: text}, i) => make('option', {value: String(i)}, text)));
    select.addEventListener('change', () => this.color(Number(select.value)));
    byId('pictures').addEventListener('change', event => {
      if (event.target.value) save(this.active, event.target.value);
      event.target.value = '';
    });
    const tools = {fit: () => this.active.fit(), whole: () => this.active.overview(),
                   expand: () => this.active.expandAll(true), collapse: () => this.active.expandAll(false),
                   help: () => this.#help(), tree: () => this.#toggleTree()};
    for (const [id, action] of Object.entries(tools)) byId(`tool-${id}`).addEventListener('click', action);
    for (const [id, factor] of [['in', 1.3], ['out', 1 / 1.3]]) {
      byId(`tool-${id}`).addEventListener('click', () => {
        this.active.camera.zoom(factor, this.active.width / 2, this.active.height / 2);
      });
    }
    byId('linked').parentElement.hidden = this.models.length < 2;
    this.#toggleTree(innerWidth >= 900 && this.models.length === 1);
  }

  #help() {
    byId('keys').replaceChildren(...KEYS.flatMap(([keys, text]) => [make('dt', {}, keys), make('dd', {}, text)]));
    byId('help').showModal();
  }

  #toggleTree(isShown = byId('tree').hidden) {
    byId('tree').hidden = !isShown;
    byId('tool-tree').setAttribute('aria-pressed', String(isShown));
  }

  color(i) {
    byId('coloring').value = String(i);
    for (const view of this.views) {
      view.coloring = this.colorings[i];
      view.draw();
    }
    this.#legend();
  }

  #legend() {
    const {legend, title} = this.views[0].coloring;
    byId('legend').replaceChildren(...legend.map(([color, text]) => {
      const chip = make('span', {className: 'chip'});
      chip.style.background = this.theme.fill(color);
      return make('li', {}, chip, text);
    }));
    byId('legend').setAttribute('aria-label', `Colors by ${title}`);
  }

  activate(view) {
    const isOther = this.active !== view || !this.tree;
    this.active = view;
    for (const each of this.views) each.canvas.parentElement.classList.toggle('active', each === view);
    if (!isOther) return;
    this.tree = new Tree(byId('tree'), view.model, group => view.select({kind: 'group', index: group}));
    this.searchBox.setModel(view.model);
  }

  // --- what happens

  #listen() {
    addEventListener('keydown', event => {
      const isTyping = event.target.closest?.('input, select, textarea, dialog[open], summary, button');
      if (isTyping && event.key !== 'Escape') return;
      if (event.target.closest?.('input, dialog[open]')) return;
      if (press(event, this.active, this.#actions())) event.preventDefault();
    });
    addEventListener('hashchange', () => this.#follow(location.hash));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.theme = readTheme();
      for (const view of this.views) view.theme = this.theme;
      this.color(Number(byId('coloring').value));
    });
  }

  #actions() {
    return {
      // A page within another one has none.
      hasAddress: location.protocol !== 'about:',
      select: selection => this.active.select(selection),
      selectIn: (side, selection) => {
        this.activate(this.views[side]);
        this.views[side].select(selection);
      },
      toggle: group => {
        this.active.toggle(group);
        this.#selected(this.active, this.active.selection);
      },
      openRoot: root => this.active.showRoot(root),
      search: query => this.searchBox.find(query),
      focusSearch: () => {
        this.searchBox.field.focus();
        this.searchBox.field.select();
      },
      beginPath: node => {
        this.#pathFrom = node;
        this.#say('Click the node where the paths end, or choose it by search.');
      },
      clearPath: () => {
        this.active.clearPath();
        this.#selected(this.active, this.active.selection);
      },
      copyLink: () => this.#copyLink(),
      escape: () => this.#escape(),
      toggleTree: () => this.#toggleTree(),
      help: () => this.#help(),
    };
  }

  #escape() {
    this.#pathFrom = null;
    this.active.clearPath();
    this.active.select(null);
  }

  #selected(view, selection) {
    if (this.#pathFrom !== null && selection?.kind === 'node') {
      const from = this.#pathFrom;
      this.#pathFrom = null;
      return this.#path(view, from, selection.index);
    }
    this.panel.show(view, selection, this);
    byId('panel').classList.toggle('full', selection !== null);
    const {model} = view;
    const group = selection?.kind === 'node' ? model.nodes[selection.index].group
      : selection?.kind === 'group' ? selection.index : null;
    this.tree.show(group);
    this.#remember(model, selection);
    if (!selection) return;
    const {title, text} = describe(model, selection);
    announce(`${title} ${text}`);
    this.#follows(view, selection);
  }

  // The other model shows the same node.
  #follows(view, selection) {
    if (!this.alignment || selection.kind !== 'node') return;
    const other = this.views[1 - view.side], index = this.counterpartOf(view.model, selection.index);
    other.select(index >= 0 ? {kind: 'node', index} : null, {quiet: true});
  }

  #path(view, from, to) {
    const path = view.showPath(from, to);
    if (!path) this.#say('No path leads from one to the other.');
    else announce(`${plural(path.nodes.size, 'node')} on paths between the two`);
    this.panel.show(view, view.selection, this);
  }

  #moved(view) {
    if (!this.views || this.views.length < 2 || !byId('linked').checked || view !== this.active) return;
    const other = this.views[1 - view.side], {scale, x, y} = view.camera;
    if (other.camera.scale === scale && other.camera.x === x && other.camera.y === y) return;
    other.camera.set({scale, x, y});
  }

  #tip(view, selection, x, y) {
    const tip = byId('tip');
    tip.hidden = !selection;
    if (!selection) return;
    const {title, text} = describe(view.model, selection);
    tip.replaceChildren(make('b', {}, title), make('br'), text);
    const box = view.canvas.getBoundingClientRect();
    tip.style.left = `${Math.min(box.left + x + 14, innerWidth - 300)}px`;
    tip.style.top = `${Math.min(box.top + y + 16, innerHeight - 70)}px`;
  }

  #say(text) {
    const message = byId('message');
    message.textContent = text;
    message.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { message.hidden = true; }, 4000);
  }

  // --- links: #node/<name>, #module/<path>, #value/<name>; a name alone is a module's path

  #remember(model, selection) {
    if (this.isFollowing) return;
    const hash = selection ? linkTo(model, selection) : '';
    try {
      history.replaceState(null, '', hash ? '#' + hash : location.pathname + location.search);
    } catch { /* where a page is part of another, it has no address */ }
  }

  #follow(hash) {
    const {model} = this.active, [, kind, rest] = hash.match(/^#(?:(node|module|value)\/)?(.*)$/s) ?? [];
    let name;
    try {
      name = decodeURIComponent(rest ?? '');
    } catch {
      return false;
    }
    if (!name) return false;
    const index = kind === 'node' ? nodeOf(model, name)
      : kind === 'value' ? model.values.findIndex(value => value.name === name)
      : model.groups.findIndex(group => group.path === name && group.kind === MODULE);
    if (index < 0) return false;
    this.active.select({kind: kind === 'module' || !kind ? 'group' : kind, index});
    if (kind === 'module' || !kind) this.active.toggle(index, true);
    return true;
  }

  #copyLink() {
    const link = location.href;
    const done = () => this.#say('The link is in the clipboard.');
    const failed = () => prompt('The link', link);
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(done, failed);
    else failed();
  }
}

// Nodes without a name, or with that of another, by number.
function linkTo(model, {kind, index}) {
  if (kind === 'node') {
    const {name} = model.nodes[index];
    return `node/${name && model.nodeNamed(name) === index ? encodeURIComponent(name) : `@${index}`}`;
  }
  if (kind === 'group') return model.groups[index].path ? `module/${encodeURIComponent(model.groups[index].path)}` : '';
  return `value/${encodeURIComponent(model.values[index].name)}`;
}

function nodeOf(model, name) {
  const number = /^@(\d+)$/.exec(name);
  if (number && model.nodes[Number(number[1])]) return Number(number[1]);
  return model.nodeNamed(name);
}

// Tests and people with a console reach the page by this.
globalThis.viewer = new Page();
globalThis.viewer.readyAfter = performance.now();
document.documentElement.dataset.ready = 'true';
