// Sardonyx in JavaScript: see README.md.
import {SardonyxModule} from './module.js';
import {BlobSource, BytesSource} from './sources.js';

export class SardonyxError extends Error {
  constructor(diagnostics) {
    super(diagnostics.map(({code, message}) => `error[${code}]: ${message}`).join('\n'));
    this.name = 'SardonyxError';
    this.diagnostics = diagnostics;
  }
}

// The library; `wasm` has the module's bytes, or is a compiled one. Without it, it is next to this
// file.
export async function load(wasm) {
  const compiled = wasm instanceof WebAssembly.Module ? wasm
    : await WebAssembly.compile(wasm ?? await ownModule());
  return new Sardonyx(compiled);
}

async function ownModule() {
  const address = new URL('sardonyx.wasm', import.meta.url);
  if (address.protocol === 'file:') return (await import('node:fs/promises')).readFile(address);
  return (await fetch(address)).arrayBuffer();
}

class Sardonyx {
  #module;

  constructor(compiled) {
    this.#module = new SardonyxModule(compiled);
    const {version, targets, precisions, opsets} = this.#json('GET', 'state');
    Object.assign(this, {version, targets, precisions, opsets});
  }

  // Files that belong together: [name, content] of a model and of its external data. The model.
  add(name, content, {data = []} = {}) {
    const {uploads} = this.#json('POST', 'uploads');
    for (const [dataName, bytes] of data)
      this.#json('POST', `uploads/${uploads}`, {name: dataName, data: 1}, sourceOf(bytes));
    return this.#json('POST', `uploads/${uploads}`, {name}, sourceOf(content)).model;
  }

  // Converts a program or optimizes a model.
  run(model, options = {}) {
    const texts = Object.entries(options).map(([name, value]) => [name, textOf(value)]);
    const answer = this.#json('POST', `models/${model.id}/run`, Object.fromEntries(texts));
    delete answer.ok;
    return answer;
  }

  bytes(model) {
    return bytesOf(this.source(model));
  }

  externalData(model) {
    const source = this.externalDataSource(model);
    return source && bytesOf(source);
  }

  // The same, to be read in slices.
  source(model) {
    return this.#module.ask('GET', `models/${model.id}/file`).source;
  }

  externalDataSource(model) {
    return model.data ? this.#module.ask('GET', `models/${model.id}/data`).source : null;
  }

  page(model) {
    return this.#module.ask('GET', `models/${model.id}`).text;
  }

  comparison(before, after) {
    return this.#module.ask('GET', `compare/${before.id}/${after.id}`).text;
  }

  remove(model) {
    this.#json('DELETE', `models/${model.id}`);
  }

  #json(method, path, parameters = {}, body = null) {
    const {status, text} = this.#module.ask(method, path, parameters, body);
    if (status === 404) throw new RangeError('there is no such model');
    const answer = JSON.parse(text);
    if (!answer.ok) throw new SardonyxError(answer.diagnostics);
    return answer;
  }
}

function sourceOf(content) {
  if (globalThis.Blob && content instanceof Blob) return new BlobSource(content);
  if (content instanceof ArrayBuffer) return new BytesSource(new Uint8Array(content));
  if (ArrayBuffer.isView(content))
    return new BytesSource(new Uint8Array(content.buffer, content.byteOffset, content.byteLength));
  return content;  // a source: {size, read(offset, to), part(offset, size)}
}

function bytesOf(source) {
  const bytes = new Uint8Array(source.size);
  source.read(0, bytes);
  return bytes;
}

// {batch: 1} is "batch=1"; lists are lines.
function textOf(value) {
  if (Array.isArray(value)) return value.join('\n');
  if (value === true) return '1';
  if (value && typeof value === 'object')
    return Object.entries(value).map(each => each.join('=')).join(',');
  return String(value);
}
