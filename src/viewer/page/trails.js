// Which links are marked: those by which a value gets from where it is made to certain nodes.
import {BEND, GROUP, NODE} from './data.js';

// Values on their way to `nodes`; to all of their readers where `nodes` is null.
export function trailTo(model, values, nodes, color) {
  const groups = new Set();
  for (const node of nodes ?? []) {
    const {group, expands} = model.nodes[node];
    for (const each of model.chain(group)) groups.add(each);
    if (expands >= 0) groups.add(expands);
  }
  return {values, nodes, groups, color};
}

// For each link of an arrangement its color, 0 for none.
export function linkColors(arrangement, trails) {
  const {links, kind, index} = arrangement;
  const colors = new Uint8Array(links.length);
  for (const trail of trails) {
    const leads = new Uint8Array(arrangement.count);  // bends from which a link goes on
    // Links are in the order of where they begin, so those behind a bend come later.
    for (let i = links.length - 1; i >= 0; --i) {
      const {from, to, value} = links[i];
      if (!trail.values.has(value)) continue;
      const goes = kind[to] === BEND ? leads[to] : ends(trail, kind[to], index[to]);
      if (!goes) continue;
      colors[i] = trail.color;
      leads[from] = 1;
    }
  }
  return colors;
}

export function ends({nodes, groups}, kind, index) {
  if (!nodes) return true;
  if (kind === NODE) return nodes.has(index);
  return kind === GROUP ? groups.has(index) : true;
}
