// Puts the page together: the models, what is done with the chosen one, and the viewer.
import {showDiagnostics} from './diagnostics.js';
import {button, byId, make} from '../../viewer/page/elements.js';
import {sizeText} from '../../viewer/page/sizes.js';
import {ask, locate, send} from './server.js';
import {droppedFiles, uploadFiles} from './upload.js';
import {endOfWatch, followWatch, statusText} from './watching.js';

const OPTIONS = ['runtime', 'opset', 'precision', 'fixed', 'max', 'input', 'dynamic'];
const LARGE = 1e9;  // bytes of two models that are compared when asked for

class ServePage {
  #models = [];
  #chosen = null;  // an id

  async start() {
    const state = await ask('state');
    this.maxUpload = state.maxUpload;
    byId('version').textContent = state.version;
    byId('runtime').append(make('option', {value: ''}, 'default'),
                           ...state.targets.map(({name}) => make('option', {value: name}, name)));
    this.targets = new Map(state.targets.map(({name, opset}) => [name, opset]));
    [byId('opset').min, byId('opset').max] = state.opsets;
    byId('precision').append(make('option', {value: ''}, 'as it is'),
                             ...state.precisions.map(each => make('option', {value: each}, each)));
    this.#listen();
    this.#setModels(state.models);
    if (this.#models.length) this.#choose(this.#models.at(-1).id);
    if (state.watched) {
      followWatch(status => this.#watched(state.watched, status)).catch(wrong => showDiagnostics(endOfWatch(wrong)));
    }
  }

  // What the watcher did. The model of a save takes the place of the one before it.
  async #watched(name, status) {
    byId('watching').textContent = statusText(name, status);
    if (status.state !== 'done') return;
    if (status.ok) {
      const wasChosen = this.#chosen === null || this.#model(this.#chosen)?.settings.startsWith('saved ');
      this.#setModels((await ask('state')).models);
      if (wasChosen || !this.#model(this.#chosen)) this.#choose(status.id);
    }
    showDiagnostics(status.ok ? status.notes : status.diagnostics);
  }

  #listen() {
    byId('files').addEventListener('change', event => {
      this.#add([...event.target.files]);
      event.target.value = '';
    });
    byId('job').addEventListener('submit', event => {
      event.preventDefault();
      this.#run();
    });
    byId('runtime').addEventListener('change', () => this.#showOpset());
    addEventListener('dragenter', () => { byId('drop').hidden = false; });
    addEventListener('dragover', event => event.preventDefault());
    addEventListener('dragleave', event => {
      if (!event.relatedTarget) byId('drop').hidden = true;
    });
    addEventListener('drop', event => {
      event.preventDefault();
      byId('drop').hidden = true;
      const {files, folders} = droppedFiles(event.dataTransfer);
      this.#add(files, folders);
    });
  }

  // What takes time: one thing after the other, with its failures on the page.
  async #during(text, work) {
    this.#say(text);
    showDiagnostics([]);
    byId('go').disabled = true;
    try {
      await work();
    } catch (wrong) {
      this.#say();
      if (wrong.restarted) await this.#startAgain();
      showDiagnostics(wrong.diagnostics ?? [{message: wrong.message}]);
    } finally {
      byId('go').disabled = false;
    }
  }

  async #startAgain() {
    this.#setModels((await ask('state')).models);
    this.#choose(this.#models.at(-1)?.id ?? null);
  }

  #say(...texts) {
    byId('status').replaceChildren(...texts.map(text => make('p', {}, text)));
  }

  #add(files, folders = []) {
    const ofFolders = folders.map(name => (
      {message: `'${name}' is a folder`, help: 'drop the files in it', code: 'SX1031'}));
    if (!files.length) {
      showDiagnostics(ofFolders);
      return;
    }
    this.#during('', async () => {
      const {models, diagnostics} = await uploadFiles(files, this.maxUpload, text => this.#say(text));
      this.#say();
      this.#setModels([...this.#models, ...models]);
      if (models.length) this.#choose(models.at(-1).id);
      showDiagnostics([...ofFolders, ...diagnostics]);
    });
  }

  #run() {
    const source = this.#model(this.#chosen);
    const values = OPTIONS.map(name => [name, byId(name).value.trim()]);
    if (byId('rules').checked) values.push(['rules', '1']);
    const what = source.kind === 'program' ? 'Converting' : 'Optimizing';
    this.#during(`${what} ${source.name} …`, async () => {
      const parameters = Object.fromEntries(values.filter(([, value]) => value));
      const done = await send(`models/${source.id}/run`, parameters);
      this.#setModels([...this.#models, done.model]);
      this.#choose(done.model.id);
      const before = done.nodesBefore === null ? '' : `, ${done.nodesBefore} before`;
      this.#say(`${done.model.name}: ${done.nodesAfter} nodes${before}, ${done.seconds} s`,
                done.applied.map(({name, count}) => count > 1 ? `${name} (${count})` : name).join(', '));
      showDiagnostics(done.notes);
    });
  }

  async #remove(model) {
    await this.#during('', async () => {
      await ask(`models/${model.id}`, {method: 'DELETE'});
      this.#setModels(this.#models.filter(each => each !== model));
      if (this.#chosen === model.id) this.#choose(this.#models.at(-1)?.id ?? null);
      else if (this.#chosen !== null) this.#views();
    });
  }

  #model(id) {
    return this.#models.find(each => each.id === id) ?? null;
  }

  // --- what is seen

  #setModels(models) {
    this.#models = models;
    byId('models').replaceChildren(...models.map(model => make('li', {},
      button(model.name, () => this.#choose(model.id),
             {className: 'choose', 'aria-pressed': String(model.id === this.#chosen)}),
      button('×', () => this.#remove(model), {'aria-label': `Remove ${model.name}`, title: 'Remove'}))));
    for (const [i, model] of models.entries()) {
      const facts = [sizeText(model.bytes), model.settings].filter(Boolean).join(', ');
      byId('models').children[i].firstChild.append(make('small', {}, facts));
    }
    byId('no-models').hidden = models.length > 0;
  }

  #choose(id) {
    this.#chosen = id;
    this.#setModels(this.#models);
    const model = this.#model(id);
    byId('bar').hidden = byId('viewer').hidden = model === null;
    byId('job').hidden = model === null || model.kind === 'weights';
    byId('empty').hidden = model !== null;
    showDiagnostics([]);
    this.#say();
    if (!model) return;
    const isProgram = model.kind === 'program';
    byId('job-title').textContent = `${isProgram ? 'Convert' : 'Optimize'} ${model.name}`;
    byId('go').textContent = isProgram ? 'Convert' : 'Optimize';
    for (const each of document.querySelectorAll('.of-program')) each.hidden = !isProgram;
    this.#showOpset();
    this.#views();
  }

  #showOpset() {
    const isProgram = this.#model(this.#chosen)?.kind === 'program';
    byId('opset').placeholder = isProgram ? `${this.targets.get(byId('runtime').value || 'onnxruntime')}, or newer where needed`
      : 'as it is';
  }

  #views() {
    const model = this.#model(this.#chosen), from = this.#model(model.from);
    const views = [[model.name, `models/${model.id}`]];
    if (from?.kind === 'model') views.push(['Before and after', `compare/${from.id}/${model.id}`]);
    const show = async (pressed, address) => {
      for (const each of byId('views').children) each.setAttribute('aria-pressed', String(each === pressed));
      const place = await locate(address);
      if (pressed.isConnected) byId('viewer').src = place;
    };
    byId('views').replaceChildren(...views.map(([text, address]) => {
      const element = button(text, () => show(element, address));
      return element;
    }));
    const first = views.length > 1 && from.bytes + model.bytes > LARGE ? 0 : views.length - 1;
    show(byId('views').children[first], views[first][1]);
    this.#showDownloads(model);
  }

  async #showDownloads(model) {
    byId('downloads').replaceChildren();
    const places = [['Download', model.name, await locate(`models/${model.id}/file`)]];
    if (model.data) places.push(['External data', `${model.name}.data`, await locate(`models/${model.id}/data`)]);
    if (this.#chosen !== model.id) return;
    byId('downloads').replaceChildren(...places.map(([text, name, href]) => make('a', {href, download: name}, text)));
  }
}

const servePage = new ServePage();
servePage.start().catch(wrong => showDiagnostics(wrong.diagnostics ?? [{message: wrong.message}]));
document.documentElement.dataset.ready = 'true';
