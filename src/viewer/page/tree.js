// The modules as a tree; branches are made when they are opened.
import {MODULE, className, plural} from './data.js';
import {make} from './elements.js';
import {sizeText} from './sizes.js';

export class Tree {
  #summaries = new Map();

  constructor(element, model, onSelect) {
    this.model = model;
    this.onSelect = onSelect;
    element.replaceChildren(...model.roots.map(root => this.#branch(root.id, true)));
  }

  #branch(index, isOpen = false) {
    const {model} = this, group = model.groups[index];
    const children = group.children.filter(child => model.groups[child].kind >= MODULE);
    const figures = [plural(group.nodeCount, 'node'), group.bytes ? sizeText(group.bytes) : ''].filter(Boolean);
    const label = make('summary', {title: [group.path, group.type].filter(Boolean).join('\n')},
      make('span', {className: 'title'}, model.titleOf(index)),
      group.type && group.kind === MODULE && make('span', {className: 'type'}, className(group.type)),
      make('span', {className: 'figures'}, figures.join(', ')));
    const entry = make('details', {open: isOpen, className: children.length ? '' : 'leaf'}, label);
    label.addEventListener('click', event => {
      // The arrow opens; the name also goes there.
      if (event.offsetX > 18 || !children.length) this.onSelect(index);
      if (!children.length || (entry.open && event.offsetX > 18)) event.preventDefault();
    });
    const fill = () => {
      if (entry.open && entry.childElementCount === 1) entry.append(...children.map(child => this.#branch(child)));
    };
    entry.addEventListener('toggle', fill);
    this.#summaries.set(index, {label, entry, fill});
    fill();
    return entry;
  }

  // Opens the branches down to a group.
  show(group) {
    for (const {label} of this.#summaries.values()) label.classList.remove('on');
    if (group === null) return;
    const chain = this.model.chain(group);
    for (const each of chain.slice(0, -1)) {
      const branch = this.#summaries.get(each);
      if (!branch) return;
      branch.entry.open = true;
      branch.fill();
    }
    const branch = this.#summaries.get(group);
    branch?.label.classList.add('on');
    branch?.label.scrollIntoView({block: 'nearest'});
  }
}
