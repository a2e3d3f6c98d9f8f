// Follows what `sardonyx serve --watch` does.
import {failure} from './failures.js';
import {ask} from './server.js';

const INTERVAL = 150;  // milliseconds

// Calls `onStatus` with each new status: state, and of an export ok, id, seconds, notes, diagnostics.
// Ends with a Failure once the server does not answer.
export async function followWatch(onStatus) {
  for (let last = 0; ;) {
    const {count, text} = await ask('watch');
    if (count !== last) {
      last = count;
      await onStatus(JSON.parse(text));
    }
    await new Promise(resolve => { setTimeout(resolve, INTERVAL); });
  }
}

export function statusText(watched, {state, ok, seconds}) {
  if (state === 'loading') return `${watched}: loading PyTorch …`;
  if (state === 'exporting') return `${watched}: exporting …`;
  return ok ? `${watched}: exported in ${seconds} s` : `${watched}: failed`;
}

export function endOfWatch(wrong) {
  return wrong.diagnostics ?? failure(wrong.message).diagnostics;
}
