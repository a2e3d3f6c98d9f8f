// Sends files to the server, one after the other.
import {sizeText} from '../../viewer/page/sizes.js';
import {failure} from './failures.js';
import {send} from './server.js';

const MODEL = /\.(onnx|pt2|pt|pth|zip|safetensors)$/i;

// External data goes before the models that read it. Where nothing is called like a model, the
// server looks at each file.
function inOrder(files) {
  const isModel = file => MODEL.test(file.name);
  if (!files.some(isModel)) return files.map(file => ({file, isData: false}));
  const data = files.filter(file => !isModel(file)).map(file => ({file, isData: true}));
  return [...data, ...files.filter(isModel).map(file => ({file, isData: false}))];
}

// Uploads files that belong together; `onProgress` gets texts. The models among them, and what went
// wrong with others.
export async function uploadFiles(files, maxBytes, onProgress) {
  const models = [], diagnostics = [];
  const {uploads} = await send('uploads');
  for (const [i, {file, isData}] of inOrder(files).entries()) {
    onProgress(`Reading ${file.name}, ${sizeText(file.size)} (${i + 1} of ${files.length}) …`);
    try {
      if (file.size > maxBytes) {
        throw failure(`'${file.name}' is larger than ${sizeText(maxBytes)}`,
                      'name it on the command line, `sardonyx serve FILE`, or raise --max-upload', 'SX1031');
      }
      const parameters = isData ? {name: file.name, data: 1} : {name: file.name};
      const {model} = await send(`uploads/${uploads}`, parameters, file);
      if (model) models.push(model);
    } catch (wrong) {
      diagnostics.push(...wrong.diagnostics ?? [{message: `'${file.name}': ${wrong.message}`}]);
    }
  }
  return {models, diagnostics};
}

// The files of a drop; folders are named in `folders`.
export function droppedFiles(transfer) {
  const files = [], folders = [];
  for (const item of transfer.items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) folders.push(entry.name);
    else if (item.getAsFile()) files.push(item.getAsFile());
  }
  return {files, folders};
}
