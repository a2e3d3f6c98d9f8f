// The keyboard: what each key does to the view that is active.
const STEP = 80;

export const KEYS = [
  ['/', 'search'], ['Enter', 'expand or collapse what is selected; next result in the search'],
  ['↑ ↓', 'along edges from what is selected; else move the picture'],
  ['← →', 'the next node in the order of execution; else move the picture'],
  ['Shift + arrows', 'move the picture'], ['+ −', 'zoom'], ['0', 'fit width'], ['1', 'the whole graph'],
  ['E, C', 'expand or collapse all'], ['P', 'paths to another node, which is clicked next'],
  ['Backspace', 'the module around it'], ['Escape', 'nothing is selected'], ['T', 'show or hide the tree'], ['?', 'this list'],
];

const PANS = {ArrowUp: [0, STEP], ArrowDown: [0, -STEP], ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0]};

// Whether the key did something.
export function press(event, view, actions) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const {key} = event;
  if (key in PANS) {
    if (event.shiftKey || !step(key, view)) view.camera.pan(...PANS[key]);
    return true;
  }
  const done = {
    '+': () => view.camera.zoom(1.25, view.width / 2, view.height / 2),
    '=': () => view.camera.zoom(1.25, view.width / 2, view.height / 2),
    '-': () => view.camera.zoom(0.8, view.width / 2, view.height / 2),
    '0': () => view.fit(),
    '1': () => view.overview(),
    'e': () => view.expandAll(true),
    'c': () => view.expandAll(false),
    'Enter': () => enter(view),
    'Backspace': () => outside(view),
    'Escape': () => actions.escape(),
    'p': () => view.selection?.kind === 'node' && actions.beginPath(view.selection.index),
    't': () => actions.toggleTree(),
    '?': () => actions.help(),
    '/': () => actions.focusSearch(),
  }[key.length === 1 ? key.toLowerCase() : key];
  if (!done) return false;
  done();
  return true;
}

// From a node along its edges; false where nothing is selected.
function step(key, view) {
  const {model, selection} = view;
  if (selection?.kind !== 'node') return false;
  const {index} = selection;
  const goal = {
    ArrowUp: () => model.producersOf(index)[0],
    ArrowDown: () => model.readersOf(index)[0],
    ArrowLeft: () => index - 1,
    ArrowRight: () => index + 1,
  }[key]();
  if (model.nodes[goal]) view.select({kind: 'node', index: goal});
  return true;
}

function enter(view) {
  const {selection, model} = view;
  if (selection?.kind === 'group') view.toggle(selection.index);
  if (selection?.kind === 'node' && model.nodes[selection.index].expands >= 0) {
    view.toggle(model.nodes[selection.index].expands);
  }
}

function outside(view) {
  const {selection, model} = view;
  if (selection?.kind === 'node') view.select({kind: 'group', index: model.nodes[selection.index].group});
  else if (selection?.kind === 'group' && model.groups[selection.index].parent >= 0) {
    const {parent} = model.groups[selection.index];
    view.toggle(selection.index, false);
    view.select(model.groups[parent].parent >= 0 ? {kind: 'group', index: parent} : selection);
  }
}
