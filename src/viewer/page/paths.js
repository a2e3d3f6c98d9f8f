// Paths from one node to another.

function reached(start, next) {
  const seen = new Set([start]), waiting = [start];
  while (waiting.length) {
    for (const each of next(waiting.pop())) {
      if (seen.has(each)) continue;
      seen.add(each);
      waiting.push(each);
    }
  }
  return seen;
}

// The nodes of all paths, the values between them, and a shortest path. Null where there is none;
// the direction is the one that there is.
export function pathsBetween(model, from, to) {
  for (const [a, b] of [[from, to], [to, from]]) {
    const down = reached(a, node => model.readersOf(node));
    if (!down.has(b)) continue;
    const up = reached(b, node => model.producersOf(node));
    const nodes = new Set([...down].filter(node => up.has(node)));
    return {from: a, to: b, nodes, values: valuesBetween(model, nodes), shortest: shortest(model, a, b, nodes)};
  }
  return null;
}

function valuesBetween(model, nodes) {
  const values = new Set();
  for (const node of nodes) {
    for (const value of model.nodes[node].outputs) {
      if (value >= 0 && model.values[value].readers.some(reader => nodes.has(reader))) values.add(value);
    }
  }
  return values;
}

function shortest(model, from, to, nodes) {
  const before = new Map([[from, -1]]);
  let front = [from];
  while (front.length && !before.has(to)) {
    const next = [];
    for (const node of front) {
      for (const reader of model.readersOf(node)) {
        if (before.has(reader) || !nodes.has(reader)) continue;
        before.set(reader, node);
        next.push(reader);
      }
    }
    front = next;
  }
  const path = [];
  for (let at = to; at !== -1; at = before.get(at)) path.unshift(at);
  return path;
}
