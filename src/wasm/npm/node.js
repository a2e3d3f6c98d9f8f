// Files of the disk, for Node.js: they are read and written in slices, and what the module writes is
// not kept in memory.
import {closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {keepWrittenBytes} from './sources.js';

const SLICE = 16 << 20;  // bytes

// A file as a source: see index.d.ts.
export class FileSource {
  constructor(path, flags = 'r') {
    this.descriptor = openSync(path, flags);
    this.size = fstatSync(this.descriptor).size;
  }

  read(offset, to) {
    for (let done = 0; done < to.length;) {
      const count = readSync(this.descriptor, to, done, to.length - done, offset + done);
      if (count === 0) throw new Error('the file was cut short while it was read');
      done += count;
    }
  }

  part(offset, size) {
    const bytes = new Uint8Array(size);
    this.read(offset, bytes);
    return bytes;
  }

  close() {
    closeSync(this.descriptor);
  }
}

export function writeSource(source, path) {
  const file = openSync(path, 'w');
  try {
    const slice = new Uint8Array(Math.min(SLICE, source.size));
    for (let offset = 0; offset < source.size; offset += slice.length) {
      const bytes = slice.subarray(0, Math.min(slice.length, source.size - offset));
      source.read(offset, bytes);
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    }
  } finally {
    closeSync(file);
  }
}

// Writes a model under its name, with its external data beside it, which it refers to by name.
export function save(sardonyx, model, folder = '.') {
  const external = sardonyx.externalDataSource(model);
  if (external) writeSource(external, join(folder, `${model.name}.data`));
  const path = join(folder, model.name);
  writeSource(sardonyx.source(model), path);
  return path;
}

// A file that nobody else sees. Its space is free again once nothing reads it.
class ScratchFile {
  #source = scratchSource();

  put(bytes) {
    const offset = this.#source.size;
    for (let done = 0; done < bytes.length;)
      done += writeSync(this.#source.descriptor, bytes, done);
    this.#source.size += bytes.length;
    return {source: this.#source, offset};
  }
}

const unused = new FinalizationRegistry(closeSync);

function scratchSource() {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-'));
  try {
    const source = new FileSource(join(folder, 'written'), 'w+');
    unused.register(source, source.descriptor);
    return source;
  } finally {
    rmSync(folder, {recursive: true});
  }
}

keepWrittenBytes(() => new ScratchFile());
