// In place of the server of `sardonyx serve`, a worker that has the library: the same functions.
import {answerOf, failure} from '../../serve/page/failures.js';

const worker = new Worker('worker.js', {type: 'module'});
const waiting = new Map();
let lastRequest = 0;

worker.addEventListener('message', ({data: {id, ...response}}) => {
  waiting.get(id).resolve(response);
  waiting.delete(id);
});
worker.addEventListener('error', event => {
  const wrong = failure(`The library does not load: ${event.message ?? 'its files are missing'}.`,
                        'reload the page; it needs a browser with WebAssembly exceptions and SIMD');
  for (const {reject} of waiting.values()) reject(wrong);
  waiting.clear();
});

// A response: {status, type, text} or {status, type, blob, name}.
function request(method, address, body = null) {
  return new Promise((resolve, reject) => {
    waiting.set(++lastRequest, {resolve, reject});
    worker.postMessage({id: lastRequest, method, address, body});
  });
}

// The answer; throws Failure.
export async function ask(address, {method = 'GET', body = null} = {}) {
  if (method === 'DELETE') forget(address);
  const {text} = await request(method, address, body);
  return answerOf(text, 'The library gave an empty answer.');
}

export function send(address, parameters = {}, body = null) {
  const query = new URLSearchParams(parameters).toString();
  return ask(query ? `${address}?${query}` : address, {method: 'POST', body});
}

const places = new Map();  // addresses that are no pages, and theirs of blobs
let shown = null;

function forget(address) {
  for (const [each, place] of places) {
    if (!each.startsWith(`${address}/`)) continue;
    URL.revokeObjectURL(place);
    places.delete(each);
  }
}

// Where a frame or a link finds what is at an address. One page lives at a time.
export async function locate(address) {
  if (places.has(address)) return places.get(address);
  const {type, text, blob} = await request('GET', address);
  const place = URL.createObjectURL(blob ?? new Blob([text], {type}));
  if (blob) {
    places.set(address, place);
  } else {
    if (shown) URL.revokeObjectURL(shown);
    shown = place;
  }
  return place;
}
