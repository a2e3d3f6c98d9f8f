// The module, and requests to it: those of `sardonyx serve` (service.h), answered in this thread.
import {FileTree} from './files.js';
import {Wasi} from './wasi.js';

const STATUS_OF_TRAP = 500;

export class SardonyxModule {
  #compiled;
  #print;
  #exports = null;
  #wasi = null;
  #bodies = 0;

  // `compiled`: a WebAssembly.Module; `print` gets lines that the module prints.
  constructor(compiled, print) {
    this.#compiled = compiled;
    this.#print = print;
    this.#start();
  }

  get #tree() {
    return this.#wasi.tree;
  }

  #start() {
    const tree = new FileTree();
    tree.makeDirectory('tmp');
    tree.makeDirectory('bodies');
    this.#wasi = new Wasi(tree, this.#print);
    const instance = new WebAssembly.Instance(this.#compiled, this.#wasi.imports(this.#compiled));
    this.#exports = instance.exports;
    this.#wasi.useMemory(this.#exports.memory);
    this.#exports._initialize();
  }

  // `body` is a source (sources.js). Gives {status, type, text} or {status, type, source, name}.
  //
  // Where the module ends (a stack that is too deep, a fault of ours), a new one takes its place,
  // which has no models: `restarted` is set then.
  ask(method, path, parameters = {}, body = null) {
    try {
      return this.#ask(method, path, parameters, body);
    } catch (wrong) {
      this.#start();
      const message = wrong instanceof RangeError || /memory|stack/i.test(wrong.message)
        ? 'the model is too large or too deep for this page' : `internal error: ${wrong.message}`;
      const diagnostic = {code: 'SX1005', severity: 'error', message,
                          help: 'the command line has no such limits: `sardonyx`'};
      const text = JSON.stringify({ok: false, restarted: true, diagnostics: [diagnostic]});
      return {status: STATUS_OF_TRAP, type: 'application/json', text};
    }
  }

  #ask(method, path, parameters, body) {
    let bodyPath = '';
    if (body) {
      bodyPath = `/bodies/${++this.#bodies}`;
      this.#tree.add(bodyPath, body);
    }
    this.#withTexts([method, `/${path}`, bodyPath], words => this.#exports.sardonyx_request(...words));
    for (const each of Object.entries(parameters))
      this.#withTexts(each.map(String), words => this.#exports.sardonyx_parameter(...words));
    const status = this.#exports.sardonyx_answer();
    const type = this.#text(this.#exports.sardonyx_type());
    const file = this.#text(this.#exports.sardonyx_file());
    if (file) {
      const name = this.#text(this.#exports.sardonyx_file_name());
      return {status, type, source: this.#tree.find(file).source, name};
    }
    const at = this.#exports.sardonyx_body() >>> 0, size = this.#exports.sardonyx_body_bytes() >>> 0;
    return {status, type, text: this.#wasi.text(at, size)};
  }

  #withTexts(texts, use) {
    const places = texts.map(text => {
      const bytes = new TextEncoder().encode(text);
      const at = this.#exports.sardonyx_allocate(bytes.length + 1) >>> 0;
      const to = this.#wasi.bytes(at, bytes.length + 1);
      to.set(bytes);
      to[bytes.length] = 0;
      return at;
    });
    use(places);
    for (const at of places) this.#exports.sardonyx_free(at);
  }

  #text(at) {
    const start = at >>> 0, memory = new Uint8Array(this.#exports.memory.buffer);
    return this.#wasi.text(start, memory.indexOf(0, start) - start);
  }
}
