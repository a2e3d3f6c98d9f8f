// Runs jobs through the npm package: node driver.mjs PACKAGE < jobs.json > results.json
//
// A job is {path, output, options, page}; its result has what `run` gives, or diagnostics, and the
// seconds that adding and running took.
import {readFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';

const partOfPackage = name => import(pathToFileURL(join(process.argv[2], name)));
const {load, SardonyxError} = await partOfPackage('index.js');
const {FileSource, writeSource} = await partOfPackage('node.js');

function attempt(sardonyx, {path, name, output, options, page, data = []}) {
  const source = new FileSource(path), begun = performance.now();
  const attached = data.map(each => [basename(each), new FileSource(each)]);
  try {
    const model = sardonyx.add(name ?? basename(path), source, {data: attached});
    const result = sardonyx.run(model, options);
    if (output) writeSource(sardonyx.source(result.model), output);
    const external = sardonyx.externalDataSource(result.model);
    if (output && external) writeSource(external, `${output}.data`);
    const html = page ? sardonyx.page(result.model) : null;
    for (const each of [model, result.model]) sardonyx.remove(each);
    return {...result, html, elapsed: (performance.now() - begun) / 1000};
  } catch (wrong) {
    if (wrong instanceof SardonyxError) return {diagnostics: wrong.diagnostics};
    return {diagnostics: [{code: '', message: String(wrong.stack)}]};
  } finally {
    for (const each of [source, ...attached.map(([, file]) => file)]) each.close();
  }
}

let text = '';
for await (const piece of process.stdin) text += piece;
const sardonyx = await load(await readFile(join(process.argv[2], 'sardonyx.wasm')));
const results = JSON.parse(text).map(job => attempt(sardonyx, job));
const {version, targets, precisions, opsets} = sardonyx;
const peak = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({version, targets, precisions, opsets, results, peak}));
