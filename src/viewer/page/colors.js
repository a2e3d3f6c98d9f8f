// How nodes are colored: by what, and what the colors mean.
import {dtypeText} from './data.js';

// What an operator is for, which its color shows.
const FAMILIES = [
  ['matrix products, convolutions', 0, /^(Conv|ConvTranspose|ConvInteger|MatMul\w*|Gemm|QLinear(Conv|MatMul)|Einsum|DeformConv)$/],
  ['attention, recurrences', 1, /^(\w*Attention\w*|LSTM|GRU|RNN|RotaryEmbedding)$/],
  ['normalization', 2, /Norm|^LRN$/],
  ['activations', 3, /^(\w*Relu|Sigmoid|Tanh|\w*Gelu|Elu|Selu|Celu|\w*Softmax|Softplus|Softsign|Mish|HardSwish|HardSigmoid|Swish|Erf|Clip)$/],
  ['reductions, pooling', 4, /^(Reduce\w+|\w*Pool|ArgMax|ArgMin|TopK|CumSum)$/],
  ['quantization', 5, /^(Dynamic)?Quantize|^Dequantize/],
  ['control flow', 6, /^(If|Loop|Scan|Sequence\w+)$/],
  ['moving data', 7, /^(Reshape|Transpose|Concat|Split|Slice|Gather\w*|Scatter\w*|Squeeze|Unsqueeze|Flatten|Expand|Tile|Pad|Shape|Size|Identity|Cast|CastLike|Constant|ConstantOfShape|Range|DepthToSpace|SpaceToDepth|Resize|Compress|OneHot|Trilu|EyeLike)$/],
];
const ELEMENTWISE = ['elementwise and others', 8];

const NEUTRAL = -1;
export const DIFFERENCES = ['only in this model', 'same', 'changed'];

function familyOf(op) {
  const name = op.slice(op.lastIndexOf(':') + 1);
  return FAMILIES.find(([, , names]) => names.test(name)) ?? ELEMENTWISE;
}

// Each: a title, the color of a node as an index into the theme, and a legend of [color, text].
class Categories {
  constructor(title, categoryOf, order = null) {
    this.title = title;
    this.categoryOf = categoryOf;
    this.order = order;
  }

  bind(models) {
    const counts = new Map();
    for (const model of models) {
      for (const node of model.nodes) {
        const category = this.categoryOf(model, node);
        counts.set(category, (counts.get(category) ?? 0) + 1);
      }
    }
    const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
    const colors = new Map(names.map((name, i) => [name, i < 9 ? i : NEUTRAL]));
    this.colorOf = (model, node) => colors.get(this.categoryOf(model, node)) ?? NEUTRAL;
    this.legend = names.slice(0, 9).map((name, i) => [i, name || 'unknown']);
    if (names.length > 9) this.legend.push([NEUTRAL, `${names.length - 9} more`]);
    return this;
  }
}

function byOperator(models) {
  const used = new Map();
  for (const model of models) {
    for (const {op} of model.nodes) {
      const [name, color] = familyOf(op);
      used.set(color, name);
    }
  }
  return {title: 'operator', colorOf: (_, node) => familyOf(node.op)[1],
          legend: [...used].sort((a, b) => a[0] - b[0])};
}

// The class of the module, or the outermost path where no class is known.
function moduleOf(model, node) {
  const {type, path} = model.groups[node.group];
  return type ? type.slice(type.lastIndexOf('.') + 1) : path.split('.')[0] || 'no module';
}

function dtypeOf(model, node) {
  const first = node.outputs.find(value => value >= 0);
  return first === undefined ? '' : dtypeText(model.values[first].type);
}

function domainOf(_, node) {
  const end = node.op.lastIndexOf('::');
  return end < 0 ? 'ONNX' : node.op.slice(0, end);
}

export const HEAT = 100;  // colors of measures begin here: 100 is none of it, 110 the most
const STEPS = 10;

function byMeasure(measure) {
  const {title, unit, nodes, others} = measure;
  const all = [...nodes, ...others ?? []];
  const known = all.filter(each => each !== null);
  const most = Math.max(...known, 0);
  const share = number => most > 0 ? Math.sqrt(number / most) : 0;  // small ones are seen, too
  const text = number => `${Number(number.toPrecision(3))} ${unit}`.trim();
  const color = number => number === null ? NEUTRAL : HEAT + Math.round(STEPS * Math.min(share(number), 1));
  const sums = new Map();
  // Of a group the sum of what was measured in it.
  const sumOf = (model, group) => {
    const key = `${model.isFirst} ${group}`;
    if (!sums.has(key)) {
      const inside = model.nodesIn(group).map(node => measure.of(model, node)).filter(each => each !== null);
      sums.set(key, inside.length ? inside.reduce((sum, each) => sum + each, 0) : null);
    }
    return sums.get(key);
  };
  return {
    title,
    measure: (model, isGroup, index) => {
      const number = isGroup ? sumOf(model, index) : measure.of(model, index);
      return number === null ? null : text(number);
    },
    colorOf: (model, node) => color(measure.of(model, node.id)),
    groupColor: (model, group) => sumOf(model, group) === null ? null : color(sumOf(model, group)),
    legend: [...[0, 0.25, 1].map(part => [HEAT + Math.round(STEPS * Math.sqrt(part)), text(most * part)]),
             ...(known.length < all.length ? [[NEUTRAL, 'not measured']] : [])],
  };
}

export const STATE = 200;  // colors of differences begin here

function byDifference(alignment) {
  const stateOf = (model, node) => Number(alignment.states[model.isFirst ? 0 : 1][node]);
  const known = new Map();
  // A group has changed where a node in it has.
  const groupState = (model, group) => {
    const key = `${model.isFirst} ${group}`;
    if (!known.has(key)) {
      const states = new Set(model.nodesIn(group).map(node => stateOf(model, node)));
      known.set(key, states.size === 1 ? [...states][0] : 2);
    }
    return known.get(key);
  };
  return {
    title: 'difference',
    colorOf: (model, node) => STATE + stateOf(model, node.id),
    groupColor: (model, group) => groupState(model, group) === 1 ? null : STATE + groupState(model, group),
    legend: DIFFERENCES.map((text, i) => [STATE + i, text]),
  };
}

export function colorings({models, measures, alignment}) {
  const found = [
    byOperator(models),
    new Categories('module', moduleOf).bind(models),
    new Categories('data type', dtypeOf).bind(models),
    new Categories('target (operator domain)', domainOf).bind(models),
    ...measures.map(byMeasure),
  ];
  return alignment ? [byDifference(alignment), ...found] : found;
}

// --- the theme, which is the style sheet's

const FILLS = Array.from({length: 9}, (_, i) => `--fill-${i}`);
const STATES = ['--only', '--same', '--changed'];

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = name => style.getPropertyValue(name).trim();
  const theme = Object.fromEntries(
    ['back', 'text', 'faint', 'line', 'box', 'group', 'edge', 'mark', 'found', 'path', 'chip']
      .map(name => [name, get('--' + name)]));
  theme.fills = FILLS.map(get);
  theme.states = STATES.map(get);
  theme.heat = Array.from({length: STEPS + 1}, (_, i) => mixed(get('--cold'), get('--hot'), i / STEPS));
  theme.fill = color => color >= STATE ? theme.states[color - STATE]
    : color >= HEAT ? theme.heat[color - HEAT] : theme.fills[color] ?? theme.box;
  return theme;
}

function mixed(a, b, share) {
  const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const channel = i => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share);
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}
