// Requests to the server behind the page. Addresses are relative, for the page's own has the token.

// What the server, or this page, does not do, as the command would print it.
export class Failure extends Error {
  constructor(diagnostics) {
    super(diagnostics.map(each => each.message).join('\n'));
    this.diagnostics = diagnostics;
  }
}

export function failure(message, help = '', code = '') {
  return new Failure([{code, message, help}]);
}

// The server's answer; throws Failure.
export async function ask(address, options = {}) {
  let text, answer;
  try {
    const response = await fetch(address, options);
    text = await response.text();
  } catch {
    throw failure('The server does not answer.', 'Is `sardonyx serve` still running in its terminal?');
  }
  try {
    answer = JSON.parse(text);
  } catch {
    throw failure(text.trim() || 'The server gave an empty answer.');
  }
  if (!answer.ok) throw new Failure(answer.diagnostics);
  return answer;
}

export function send(address, parameters = {}, body = null) {
  const query = new URLSearchParams(parameters).toString();
  return ask(query ? `${address}?${query}` : address, {method: 'POST', body});
}
