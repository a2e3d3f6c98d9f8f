// The page's data as objects. src/viewer/page_data.cpp writes what is read here.

// Kinds of groups; 0 is the main graph.
export const FUNCTION = 1, MODULE = 2, NODE_WITH_BODIES = 3;
// Kinds of places.
export const NODE = 0, GROUP = 1, IN = 2, OUT = 3, BEND = 4;

export class Model {
  constructor(data, texts) {
    const text = index => texts[index];
    this.title = data.title;
    this.facts = data.facts;
    this.statistics = data.statistics;
    this.groups = data.groups.map((row, id) => readGroup(row, id, text));
    this.nodes = data.nodes.map((row, id) => readNode(row, id, text));
    this.values = data.values.map(([name, type, constant, bytes, statistics], id) =>
      ({id, name: text(name), type: text(type), constant: constant === 1, bytes, statistics,
        producer: -1, readers: []}));
    for (const group of this.groups) {
      if (group.parent < 0) continue;
      this.groups[group.parent].children.push(group.id);
      group.depth = this.groups[group.parent].depth + 1;
      if (group.kind === NODE_WITH_BODIES) this.nodes[group.node].expands = group.id;
    }
    this.#link();
  }

  #link() {
    for (const node of this.nodes) {
      this.groups[node.group].nodes.push(node.id);
      for (const value of node.outputs) if (value >= 0) this.values[value].producer = node.id;
      for (const value of new Set(node.inputs)) {
        if (value >= 0) this.values[value].readers.push(node.id);
      }
    }
  }

  get roots() {
    return this.groups.filter(group => group.parent < 0);
  }

  // The groups around one, itself last.
  chain(group) {
    const chain = [];
    for (let at = group; at >= 0; at = this.groups[at].parent) chain.unshift(at);
    return chain;
  }

  rootOf(group) {
    return this.chain(group)[0];
  }

  // All nodes in a group and in those within it.
  nodesIn(group) {
    return [...this.groups[group].nodes, ...this.groups[group].children.flatMap(child => this.nodesIn(child))];
  }

  // A path that people read: "encoder.layers.0"
  pathOf(group) {
    const {path, name} = this.groups[group];
    return path || name;
  }

  titleOf(group) {
    const {kind, name, type, node} = this.groups[group];
    if (kind === NODE_WITH_BODIES) return this.nodes[node].op;
    return name || type || 'model';
  }

  producersOf(node) {
    const found = this.nodes[node].inputs.map(value => value < 0 ? -1 : this.values[value].producer);
    return [...new Set(found.filter(each => each >= 0))];
  }

  readersOf(node) {
    return [...new Set(this.nodes[node].outputs.flatMap(
      value => value < 0 ? [] : this.values[value].readers))];
  }

  nodeNamed(name) {
    return this.nodes.findIndex(node => node.name === name);
  }

  statisticsOf(value) {
    return value.statistics < 0 ? null : this.statistics[value.statistics];
  }
}

function readGroup(row, id, text) {
  const [kind, name, path, type, parent, node, nodeCount, bytes, weights, places, near, far] = row;
  return {id, kind, name: text(name), path: text(path), type: text(type), parent, node, nodeCount,
          bytes, weights, places, near, far, children: [], nodes: [], depth: 0};
}

function readNode([op, name, group, attributes, inputs, outputs, frames, call, rules], id, text) {
  const pairs = [];
  for (let i = 0; i < attributes.length; i += 2) {
    pairs.push([text(attributes[i]), text(attributes[i + 1])]);
  }
  return {id, op: text(op), name: text(name), group, attributes: pairs, inputs, outputs,
          frames: frames.map(text), call: text(call), rules: text(rules).split(', ').filter(Boolean), expands: -1};
}

// Numbers of nodes of the first model, and of the second where there are `others`.
class Measure {
  constructor({title, unit, nodes, others, notes}) {
    Object.assign(this, {title, unit, nodes, others: others ?? null, notes: notes ?? {}});
  }

  numbersOf(model) {
    return model.isFirst ? this.nodes : this.others;
  }

  of(model, node) {
    return this.numbersOf(model)?.[node] ?? null;
  }
}

export function readPage(element) {
  const data = JSON.parse(element.textContent);
  return {
    models: data.models.map(model => new Model(model, data.texts)),
    measures: data.measures.map(measure => new Measure(measure)),
    costs: data.costs ?? [],
    alignment: data.alignment ?? null,
  };
}

// "float32[batch, 8]" -> "batch×8"
export function shapeText(type) {
  const begin = type.indexOf('[');
  if (begin < 0) return type;
  const inside = type.slice(begin + 1, -1);
  if (inside === '' || inside === '...') return inside ? '?' : 'scalar';
  // Not at the commas within parentheses, as in "1, min(512, tokens)".
  return inside.split(/, (?![^(]*\))/).join('×');
}

export function dtypeText(type) {
  const begin = type.indexOf('[');
  return begin < 0 ? type : type.slice(0, begin);
}

export function plural(count, word) {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

// The last part of a class's name.
export function className(type) {
  return type.slice(type.lastIndexOf('.') + 1);
}
