// Elements of the page. Names and messages only ever become text, never markup.

export const byId = id => document.getElementById(id);

export function make(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-')) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...inside.filter(each => each !== null && each !== ''));
  return element;
}

export function button(text, onClick, properties = {}) {
  const element = make('button', {type: 'button', ...properties}, text);
  element.addEventListener('click', onClick);
  return element;
}

export function sizeText(bytes) {
  if (bytes < 1e3) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
