// The field that searches, and the list of what it found.
import {Search, describe} from './searching.js';
import {byId, make} from './elements.js';

const MAX_SHOWN = 100;

export class SearchBox {
  #at = -1;
  #found = [];
  #timer = 0;
  #isMarked = false;  // by the arrow keys

  constructor(onFound, onChoose) {
    Object.assign(this, {onFound, onChoose});
    this.field = byId('search');
    this.list = byId('results');
    this.field.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#run(), 60);
    });
    this.field.addEventListener('keydown', event => this.#key(event));
    this.field.addEventListener('focus', () => this.#open(this.#found.length > 0));
    document.addEventListener('pointerdown', event => {
      if (!event.target.closest?.('#searching')) this.#open(false);
    });
  }

  setModel(model) {
    this.search = new Search(model);
    if (this.field.value) this.#run();
  }

  find(query) {
    this.field.value = query;
    this.#run();
    this.field.focus();
  }

  #run() {
    this.#found = this.search.find(this.field.value);
    this.#at = -1;
    const {model} = this.search;
    const items = this.#found.slice(0, MAX_SHOWN).map((entry, i) => {
      const {title, text, kind} = describe(model, entry);
      const item = make('li', {role: 'option', id: `result-${i}`, 'aria-selected': 'false'},
        make('span', {className: 'kind'}, kind), make('b', {}, title), ' ', make('span', {className: 'faint'}, text));
      item.addEventListener('click', () => this.#choose(i));
      return item;
    });
    const count = this.#found.length, shown = this.field.value.trim() !== '';
    byId('count').textContent = shown ? `${count.toLocaleString('en')} found` : '';
    this.list.replaceChildren(...items);
    this.#open(items.length > 0);
    this.onFound(this.#found);
  }

  #open(isOpen) {
    this.list.hidden = !isOpen;
    this.field.setAttribute('aria-expanded', String(isOpen));
  }

  #key(event) {
    const shown = Math.min(this.#found.length, MAX_SHOWN);
    if (event.key === 'Escape') {
      if (this.field.value) {
        this.field.value = '';
        this.#run();
      } else {
        this.field.blur();
      }
    } else if (event.key === 'Enter' && shown) {
      // What the arrows went to; else the next one, again and again.
      const step = event.shiftKey ? shown - 1 : 1;
      this.#choose(this.#isMarked ? this.#at : (Math.max(this.#at, -1) + step) % shown);
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && shown) {
      event.preventDefault();
      this.#mark((this.#at + (event.key === 'ArrowDown' ? 1 : shown - 1)) % shown);
      this.#isMarked = true;
    }
  }

  #mark(at) {
    this.list.children[this.#at]?.setAttribute('aria-selected', 'false');
    this.#at = Math.max(at, 0);
    const item = this.list.children[this.#at];
    item?.setAttribute('aria-selected', 'true');
    item?.scrollIntoView({block: 'nearest'});
    this.field.setAttribute('aria-activedescendant', item?.id ?? '');
  }

  #choose(at) {
    this.#mark(at);
    this.#isMarked = false;
    this.onChoose(this.#found[this.#at]);
  }
}
