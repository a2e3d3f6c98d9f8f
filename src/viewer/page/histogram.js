// The statistics of a weight, and its histogram.
import {drawn, make} from './elements.js';

const WIDTH = 260, HEIGHT = 72;
const short = number => number === null ? '?' : String(Number(number.toPrecision(4)));

export function statisticsOf(found) {
  if (!found) return make('p', {className: 'faint'}, 'No statistics: the data is not at hand, or large and compressed.');
  const rows = [['minimum', short(found.min)], ['maximum', short(found.max)], ['mean', short(found.mean)],
                ['standard deviation', short(found.deviation)],
                ['zeros', `${found.zeros.toLocaleString('en')} (${short(100 * found.zeros / found.sample)} %)`]];
  if (found.nans) rows.push(['NaN', found.nans.toLocaleString('en')]);
  if (found.infinities) rows.push(['infinite', found.infinities.toLocaleString('en')]);
  const inside = [];
  if (found.values.length) inside.push(make('p', {className: 'elements'}, found.values.join(', ')));
  if (found.elements > 1) {
    inside.push(histogram(found));
    inside.push(make('dl', {className: 'pairs'}, ...rows.flatMap(
      ([name, text]) => [make('dt', {}, name), make('dd', {}, text)])));
  }
  if (found.sample < found.elements) {
    inside.push(make('p', {className: 'faint'}, `Of a sample: ${found.sample.toLocaleString('en')} of ` +
      `${found.elements.toLocaleString('en')} elements.`));
  }
  return make('div', {className: 'statistics'}, ...inside);
}

function histogram({histogram: bins, min, max}) {
  const most = Math.max(...bins, 1), wide = WIDTH / bins.length;
  const bars = bins.map((count, i) => {
    const height = count ? Math.max(HEIGHT * count / most, 1) : 0;
    const from = min + (max - min) * i / bins.length, to = min + (max - min) * (i + 1) / bins.length;
    return drawn('rect', {x: i * wide, y: HEIGHT - height, width: Math.max(wide - 1, 1), height},
      drawn('title', {}, `${short(from)} to ${short(to)}: ${count.toLocaleString('en')}`));
  });
  const label = `Histogram from ${short(min)} to ${short(max)}`;
  return make('figure', {},
    drawn('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, class: 'histogram'}, ...bars),
    make('figcaption', {}, make('span', {}, short(min)), make('span', {}, short(max))));
}
