// What does not work, as the command would print it.

export class Failure extends Error {
  constructor(diagnostics, {restarted = false} = {}) {
    super(diagnostics.map(each => each.message).join('\n'));
    this.diagnostics = diagnostics;
    this.restarted = restarted;  // the models are gone
  }
}

export function failure(message, help = '', code = '') {
  return new Failure([{code, message, help}]);
}

// The answer to a request; throws Failure.
export function answerOf(text, otherwise) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw failure(text.trim() || otherwise);
  }
  if (!answer.ok) throw new Failure(answer.diagnostics, answer);
  return answer;
}
