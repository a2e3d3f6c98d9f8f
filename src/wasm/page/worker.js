// The library in a worker: requests of the page, one after the other.
import {SardonyxModule} from './module.js';
import {BlobSource} from './sources.js';

async function compiled() {
  const response = await fetch('sardonyx.wasm');
  if (!response.ok) throw new Error(`sardonyx.wasm: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

const starting = compiled().then(module => new SardonyxModule(module, line => console.log(line)));
// For the page, which waits for answers.
starting.catch(wrong => setTimeout(() => { throw wrong; }));

onmessage = async ({data: {id, method, address, body}}) => {
  const module = await starting;
  const {pathname, searchParams} = new URL(address, 'http://page/');
  const source = body && new BlobSource(body);
  const answer = module.ask(method, pathname.slice(1), Object.fromEntries(searchParams), source);
  const {status, type, text, name} = answer;
  const blob = answer.source && new Blob(answer.source.parts?.() ?? [answer.source.part(0, answer.source.size)],
                                         {type});
  postMessage({id, status, type, text, name, blob});
};
