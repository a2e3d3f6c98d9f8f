// Details of what is selected. Everything that a node is linked with is a button that leads there.
import {chartOf, costsOf} from './charts.js';
import {FUNCTION, IN, NODE_WITH_BODIES, OUT, plural} from './data.js';
import {button, make} from './elements.js';
import {statisticsOf} from './histogram.js';
import {sizeText} from './sizes.js';

const MAX_LISTED = 60, MAX_STEPS = 6;

export class Panel {
  // `actions`: select, toggle, beginPath, clearPath, copyLink, ...
  constructor(element, actions) {
    this.element = element;
    this.actions = actions;
  }

  show(view, selection, page) {
    this.model = view.model;
    this.view = view;
    this.page = page;
    const parts = selection ? this[selection.kind](selection.index) : this.#whole();
    this.element.replaceChildren(...[...this.#path(), ...parts].filter(Boolean));
    this.element.scrollTop = 0;
  }

  // --- the model

  #whole() {
    const {model, page} = this;
    const facts = make('dl', {className: 'pairs'}, ...model.facts.flatMap(
      ([name, text]) => [make('dt', {}, name), make('dd', {}, text)]));
    const root = model.groups[this.view.root];
    return [
      make('h2', {}, model.title), facts,
      page.alignment && this.#differences(),
      ...costsOf(page.costs),
      ...page.measures.flatMap(measure => chartOf(measure, model,
        node => this.actions.select({kind: 'node', index: node}))),
      ...this.#values('Inputs', placesOf(root, IN)), ...this.#values('Outputs', placesOf(root, OUT)),
      ...this.#operators(model.nodes.filter(node => model.rootOf(node.group) === root.id)),
    ];
  }

  #operators(nodes) {
    const counts = new Map();
    for (const {op} of nodes) counts.set(op, (counts.get(op) ?? 0) + 1);
    const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([op, count]) => make('li', {},
      button(op, () => this.actions.search(`op:${op}`), {className: 'link'}),
      make('span', {className: 'faint'}, count.toLocaleString('en'))));
    return [make('h3', {}, 'Operators'), make('ul', {className: 'counts'}, ...rows)];
  }

  #differences() {
    const {alignment, models} = this.page, isFirst = this.model.isFirst;
    const states = [0, 1].map(side => [...alignment.states[side]]);
    const listed = (side, state) => states[side].flatMap((each, node) => each === state ? [node] : []);
    const list = (title, side, nodes) => nodes.length && make('details', {open: nodes.length < 8},
      make('summary', {}, `${title}: ${plural(nodes.length, 'node')}`),
      make('ul', {className: 'refs'}, ...nodes.slice(0, MAX_LISTED).map(node => make('li', {},
        this.#nodeButton(node, models[side], () => this.actions.selectIn(side, {kind: 'node', index: node}))))),
      nodes.length > MAX_LISTED && make('p', {className: 'faint'}, `and ${nodes.length - MAX_LISTED} more`));
    return make('section', {className: 'differences'}, make('h3', {}, 'Differences'),
      list('Changed', isFirst ? 0 : 1, listed(isFirst ? 0 : 1, '2')),
      list(`Only in ${models[0].title}`, 0, listed(0, '0')),
      list(`Only in ${models[1].title}`, 1, listed(1, '0')),
      make('p', {className: 'faint'}, `${plural(listed(0, '1').length, 'node')} the same`));
  }

  // --- a node

  node(index) {
    const {model, page, actions} = this, node = model.nodes[index];
    const measured = page.measures.map(measure => [measure, measure.of(model, index)])
      .filter(([, number]) => number !== null);
    return [
      make('h2', {}, node.op), make('p', {className: 'name'}, node.name || 'without a name'),
      make('div', {className: 'actions'},
        button('Path to …', () => actions.beginPath(index), {title: 'Mark the paths to another node'}),
        actions.hasAddress && button('Copy link', () => actions.copyLink()),
        node.expands >= 0 && button('Expand or collapse', () => actions.toggle(node.expands)),
        this.#functionOf(node),
        page.alignment && this.#counterpart(index)),
      this.#module(node.group),
      this.#changes(index),
      ...measured.map(([measure, number]) => make('p', {}, `${measure.title}: `,
        make('b', {}, `${Number(number.toPrecision(4))} ${measure.unit}`))),
      ...page.measures.map(({notes}) => model.isFirst && notes[index] && make('p', {}, notes[index])),
      ...this.#attributes(node),
      ...this.#values('Inputs', node.inputs, 'producer'), ...this.#values('Outputs', node.outputs, 'readers'),
      ...this.#code(node),
    ];
  }

  #functionOf(node) {
    const root = this.model.roots.find(group => group.kind === FUNCTION && group.name === node.op);
    return root && button('Open the function', () => this.actions.openRoot(root.id));
  }

  #counterpart(index) {
    const other = this.page.counterpartOf(this.model, index);
    return other >= 0 && button('Show in the other model', () => this.actions.selectIn(
      this.model.isFirst ? 1 : 0, {kind: 'node', index: other}));
  }

  #changes(index) {
    const {alignment} = this.page;
    if (!alignment) return null;
    const first = this.model.isFirst ? index : alignment.counterparts.indexOf(index);
    const changes = alignment.changes[first] ?? [];
    const state = alignment.states[this.model.isFirst ? 0 : 1][index];
    if (state === '1') return make('p', {className: 'faint'}, 'The same in both models.');
    if (state === '0') return make('p', {}, make('b', {}, 'Only in this model.'));
    return make('section', {}, make('h3', {}, 'Changed'),
      make('ul', {className: 'plain'}, ...changes.map(text => make('li', {}, text))));
  }

  #attributes({attributes}) {
    if (!attributes.length) return [];
    return [make('h3', {}, 'Attributes'), make('dl', {className: 'pairs code'}, ...attributes.flatMap(
      ([name, text]) => [make('dt', {}, name), make('dd', {}, text)]))];
  }

  // The innermost frame first; the others on demand.
  #code({frames, call, rules}) {
    const found = [];
    if (frames.length) {
      const [last, ...before] = [...frames].reverse();
      found.push(make('h3', {}, 'Line of code'), frameOf(last));
      if (before.length) {
        found.push(make('details', {}, make('summary', {}, plural(before.length, 'caller')), ...before.map(frameOf)));
      }
    }
    if (call) found.push(make('h3', {}, 'Made from the captured call'), make('pre', {}, call));
    if (rules.length) {
      found.push(make('h3', {}, 'Rules that made or changed it'),
        make('ol', {className: 'refs rules'}, ...rules.map(rule => make('li', {}, rule))));
    }
    return found;
  }

  #module(group) {
    const chain = this.model.chain(group).filter(each => this.model.groups[each].parent >= 0);
    if (!chain.length) return null;
    const steps = chain.map(each => {
      const {name, type} = this.model.groups[each];
      return make('li', {}, button(name || this.model.titleOf(each),
        () => this.actions.select({kind: 'group', index: each}), {className: 'link', title: type}));
    });
    return make('nav', {className: 'crumbs', 'aria-label': 'Modules around it'}, make('ol', {}, ...steps));
  }

  // --- a module

  group(index) {
    const {model, actions} = this, group = model.groups[index];
    const inside = model.nodesIn(index).map(node => model.nodes[node]);
    const weights = group.weights.map(value => model.values[value]);
    return [
      make('h2', {}, model.titleOf(index)), group.type && make('p', {className: 'name'}, group.type),
      make('div', {className: 'actions'},
        group.parent >= 0 && button(this.view.arranger.expanded.has(index) ? 'Collapse' : 'Expand',
                                    () => actions.toggle(index)),
        actions.hasAddress && button('Copy link', () => actions.copyLink())),
      this.#module(group.parent < 0 ? index : group.parent),
      make('p', {}, `${plural(group.nodeCount, 'node')}` +
        (group.bytes ? `, ${sizeText(group.bytes)} of weights` : '')),
      group.kind === NODE_WITH_BODIES && button('Details of the node', () => actions.select({kind: 'node', index: group.node})),
      ...this.#values('Inputs', placesOf(group, IN)), ...this.#values('Outputs', placesOf(group, OUT)),
      ...(weights.length ? this.#values('Weights', group.weights) : []),
      ...this.#operators(inside),
    ];
  }

  // --- a value

  value(index) {
    const {model} = this, value = model.values[index];
    const place = value.producer >= 0 ? this.#nodeButton(value.producer) : null;
    return [
      make('h2', {}, value.name || 'a value'), make('p', {className: 'name'}, value.type),
      make('div', {className: 'actions'}, this.actions.hasAddress && button('Copy link', () => this.actions.copyLink())),
      value.constant && make('p', {}, `A weight or constant of ${sizeText(value.bytes)}.`),
      value.constant && statisticsOf(model.statisticsOf(value)),
      place && make('h3', {}, 'Made by'), place,
      make('h3', {}, `Read by ${plural(value.readers.length, 'node')}`),
      make('ul', {className: 'refs'}, ...value.readers.slice(0, MAX_LISTED).map(
        node => make('li', {}, this.#nodeButton(node)))),
    ];
  }

  #nodeButton(index, model = this.model, onClick = () => this.actions.select({kind: 'node', index})) {
    const node = model.nodes[index];
    const element = button('', onClick, {className: 'ref'});
    element.append(make('b', {}, node.op), ' ', make('span', {className: 'faint'}, node.name));
    return element;
  }

  #values(title, indices, side = 'both') {
    const listed = indices.filter(value => value >= 0);
    if (!listed.length) return [];
    const items = listed.slice(0, MAX_LISTED).map(index => {
      const value = this.model.values[index];
      const select = () => this.actions.select({kind: 'value', index});
      const head = button('', select, {className: 'ref'});
      head.append(make('b', {}, value.name), ' ', make('span', {className: 'faint'}, value.type));
      if (!value.constant) return make('li', {}, head, ...this.#ends(value, side));
      const details = make('details', {}, make('summary', {}, `constant, ${sizeText(value.bytes)}`));
      details.addEventListener('toggle', () => {
        if (details.childElementCount === 1) details.append(statisticsOf(this.model.statisticsOf(value)));
      });
      return make('li', {}, head, details);
    });
    const more = listed.length > MAX_LISTED && make('li', {className: 'faint'}, `and ${listed.length - MAX_LISTED} more`);
    return [make('h3', {}, title), make('ul', {className: 'refs'}, ...items, more || null)];
  }

  // Arrows to where a value is made and where it is read.
  #ends({producer, readers}, side) {
    const {model, actions} = this, ends = [];
    const step = (node, sign, text) => button(`${sign} ${model.nodes[node].op}`,
      () => actions.select({kind: 'node', index: node}),
      {className: 'step', title: model.nodes[node].name, 'aria-label': `${text} ${model.nodes[node].op} ${model.nodes[node].name}`});
    if (producer >= 0 && side !== 'readers') ends.push(step(producer, '↑', 'made by'));
    for (const reader of side === 'producer' ? [] : readers.slice(0, MAX_STEPS)) ends.push(step(reader, '↓', 'read by'));
    return [make('div', {className: 'steps'}, ...ends)];
  }

  // --- paths

  #path() {
    const {path} = this.view;
    if (!path) return [];
    const steps = path.shortest.map(node => make('li', {}, this.#nodeButton(node)));
    return [make('section', {className: 'path'},
      make('h3', {}, `Paths: ${plural(path.nodes.size, 'node')} on them, ${path.shortest.length - 1} steps at least`),
      button('Clear', () => this.actions.clearPath()),
      make('details', {}, make('summary', {}, 'A shortest path'), make('ol', {className: 'refs'}, ...steps)))];
  }
}

function placesOf({places}, kind) {
  const found = [];
  for (let i = 0; i < places.length; i += 3) if (places[i] === kind) found.push(places[i + 1]);
  return found;
}

function frameOf(frame) {
  const [place, ...code] = frame.split('\n');
  const [, file, line, rest] = place.match(/^File "(.*)", line (\d+)(.*)$/) ?? [null, place, '', ''];
  return make('div', {className: 'frame'},
    make('span', {className: 'place', title: file}, `${file.split('/').slice(-2).join('/')}${line && ':'}${line}${rest.replace(',', '')}`),
    code.length ? make('pre', {}, code.join('\n').trim()) : null);
}
