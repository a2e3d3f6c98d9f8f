// Search by name, operator, module, shape and line of code.

const FIELDS = ['name', 'op', 'module', 'shape', 'line'];

// What a node, module or weight is found by, in lower case, by field.
function fieldsOf(model, {kind, index}) {
  if (kind === 'node') {
    const node = model.nodes[index];
    const values = [...node.outputs, ...node.inputs].filter(value => value >= 0).map(value => model.values[value]);
    return {name: [node.name, ...values.map(value => value.name)].join('\n'), op: node.op,
            module: model.pathOf(node.group) + ' ' + model.groups[node.group].type,
            shape: values.map(value => value.type).join('\n'), line: node.frames.join('\n')};
  }
  if (kind === 'group') {
    const group = model.groups[index];
    return {name: group.name, op: '', module: `${group.path} ${group.type}`, shape: '', line: ''};
  }
  const value = model.values[index];
  return {name: value.name, op: '', module: '', shape: value.type, line: ''};
}

export class Search {
  #entries;

  constructor(model) {
    this.model = model;
  }

  // Lower-case texts are made when somebody searches first.
  #all() {
    if (this.#entries) return this.#entries;
    const entry = (kind, index) => {
      const fields = fieldsOf(this.model, {kind, index});
      for (const field of FIELDS) fields[field] = fields[field].toLowerCase();
      return {kind, index, fields, all: Object.values(fields).join('\n')};
    };
    this.#entries = [
      ...this.model.groups.filter(group => group.path).map(group => entry('group', group.id)),
      ...this.model.nodes.map(node => entry('node', node.id)),
      ...this.model.values.filter(value => value.constant && value.readers.length)
        .map(value => entry('value', value.id)),
    ];
    return this.#entries;
  }

  // Each word must be found; "op:conv" looks in one field. What is named so comes first.
  find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(word => {
      const [, field, rest] = word.match(/^(\w+):(.+)$/) ?? [];
      return FIELDS.includes(field) ? {field, text: rest} : {field: 'all', text: word};
    });
    if (!words.length) return [];
    const text = (entry, field) => field === 'all' ? entry.all : entry.fields[field];
    const found = this.#all().filter(entry =>
      words.every(({field, text: wanted}) => text(entry, field).includes(wanted)));
    const first = words[0].text;
    const rank = ({kind, fields}) =>
      (fields.op === first || fields.name.split('\n')[0] === first ? 0 : 2) + (kind === 'value' ? 1 : 0);
    return found.map(entry => [rank(entry), entry]).sort((a, b) => a[0] - b[0]).map(([, entry]) => entry);
  }
}

export function describe(model, {kind, index}) {
  if (kind === 'node') {
    const node = model.nodes[index];
    return {title: node.op, text: node.name || model.pathOf(node.group), kind: 'node'};
  }
  if (kind === 'group') {
    const group = model.groups[index];
    return {title: group.path, text: group.type, kind: 'module'};
  }
  const value = model.values[index];
  return {title: value.name, text: value.type, kind: 'weight'};
}
