// Diagnostics, as the command prints them.
import {byId, make} from '../../viewer/page/elements.js';

export function showDiagnostics(diagnostics) {
  byId('diagnostics').replaceChildren(...diagnostics.map(diagnosticElement));
}

function diagnosticElement({code, severity, message, help, op, module_path: module, file, line}) {
  const kind = severity === 'note' || severity === 'warning' ? severity : 'error';
  const label = code ? `${kind}[${code}]` : kind;
  const places = [op, module, file && `${file}:${line}`].filter(Boolean);
  return make('div', {className: kind === 'error' ? 'diagnostic' : 'diagnostic note'},
    make('p', {}, make('b', {}, label), ` ${message}`),
    places.length ? make('p', {className: 'at'}, places.join(' · ')) : null,
    help ? make('p', {className: 'help'}, `help: ${help}`) : null);
}
