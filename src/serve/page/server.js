// Requests to the server behind the page. Addresses are relative, for the page's own has the token.
// src/wasm/page/server.js has the same functions where there is no server.
import {answerOf, failure} from './failures.js';

// The server's answer; throws Failure.
export async function ask(address, options = {}) {
  let text;
  try {
    const response = await fetch(address, options);
    text = await response.text();
  } catch {
    throw failure('The server does not answer.', 'Is `sardonyx serve` still running in its terminal?');
  }
  return answerOf(text, 'The server gave an empty answer.');
}

export function send(address, parameters = {}, body = null) {
  const query = new URLSearchParams(parameters).toString();
  return ask(query ? `${address}?${query}` : address, {method: 'POST', body});
}

// Where a frame or a link finds what is at an address.
export async function locate(address) {
  return address;
}
