// Elements of a page, the viewer's and that of `sardonyx serve`. Text of a model only ever becomes
// text, never markup.

export function make(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-') || name === 'role' || name.startsWith('data-')) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...inside.filter(each => each !== null && each !== undefined && each !== false && each !== 0 && each !== ''));
  return element;
}

export function drawn(tag, attributes, ...inside) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

export const byId = id => document.getElementById(id);

export function button(text, onClick, properties = {}) {
  const element = make('button', {type: 'button', ...properties}, text);
  element.addEventListener('click', onClick);
  return element;
}

// What screen readers say.
export function announce(text) {
  byId('announcement').textContent = text;
}

export function download(name, blob) {
  const link = make('a', {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
