// What was measured and what the model costs, as bars and tables next to the graph.
import {plural} from './data.js';
import {button, make} from './elements.js';
import {sizeText} from './sizes.js';

const MAX_BARS = 60;

const withUnit = (number, unit) => `${Number(number.toPrecision(3))} ${unit}`.trim();

// A bar for each node, in the order of the graph where all have one, and what is noted of nodes
// without a number.
export function chartOf(measure, model, select) {
  const numbers = measure.numbersOf(model);
  const notes = model.isFirst ? measure.notes : {};
  const known = model.nodes.map((_, node) => node).filter(node => (numbers?.[node] ?? null) !== null);
  const noted = Object.keys(notes).map(Number).filter(node => (numbers?.[node] ?? null) === null);
  if (!known.length && !noted.length) return [];
  const most = Math.max(...known.map(node => numbers[node]), 0) || 1;
  const least = known.map(node => numbers[node]).sort((a, b) => b - a)[MAX_BARS - 1] ?? -Infinity;
  const shown = known.filter(node => numbers[node] >= least).slice(0, MAX_BARS);
  const label = node => button(`${model.nodes[node].op} ${model.nodes[node].name}`, () => select(node),
                               {className: 'link', title: model.nodes[node].name});
  const bar = node => make('li', {}, label(node),
    make('div', {className: 'bar'},
      make('span', {style: `width: ${(100 * Math.max(numbers[node], 0) / most).toFixed(1)}%`}),
      make('b', {}, withUnit(numbers[node], measure.unit))),
    notes[node] && make('p', {className: 'faint'}, notes[node]));
  return [
    make('h3', {}, `${measure.title}, by node`),
    known.length > shown.length && make('p', {className: 'faint'}, `the ${shown.length} largest of ${known.length}`),
    make('ul', {className: 'bars'}, ...shown.map(bar)),
    noted.length && make('h3', {}, `${plural(noted.length, 'node')} without ${measure.title}`),
    noted.length && make('ul', {className: 'bars'}, ...noted.map(node => make('li', {}, label(node),
      make('p', {className: 'faint'}, notes[node])))),
  ];
}

const COLUMNS = [
  ['time', row => row.milliseconds ?? null, number => withUnit(number, 'ms')],
  ['multiply-adds', row => row.multiply_adds, number => withUnit(number / 1e6, 'M')],
  ['bytes', row => row.bytes, sizeText],
];

// Of one model, or of two with what they had before.
export function costsOf(costs) {
  const [before, after] = costs;
  if (!before) return [];
  const columns = COLUMNS.filter(([, of]) => costs.every(cost => of(cost) !== null));
  const cell = (of, text, rows) => make('td', {}, rows.map(row => row ? text(of(row)) : '–').join(' → '));
  const line = (name, rows) => make('tr', {}, make('th', {scope: 'row'}, name),
    ...columns.map(([, of, text]) => cell(of, text, rows)));
  const lines = key => {
    const names = [...new Set(costs.flatMap(cost => cost[key].map(row => row.name)))];
    return names.slice(0, MAX_BARS).map(name => line(name,
      costs.map(cost => cost[key].find(row => row.name === name))));
  };
  const head = text => make('tr', {}, make('th', {scope: 'col'}, text),
    ...columns.map(([name]) => make('th', {scope: 'col'}, name)));
  return [make('h3', {}, after ? 'Cost, before → after' : 'Cost'), make('div', {className: 'costs'},
    make('table', {}, make('thead', {}, head('operator')),
      make('tbody', {}, line('all', costs), ...lines('operators')),
      costs.some(cost => cost.modules.length) && make('thead', {}, head('module')),
      costs.some(cost => cost.modules.length) && make('tbody', {}, ...lines('modules'))))];
}
