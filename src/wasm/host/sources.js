// What files are made of: bytes that are read when the module asks for them, in slices.

export class BytesSource {
  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  // Fills `to` from `offset` on; the caller stays inside.
  read(offset, to) {
    to.set(this.bytes.subarray(offset, offset + to.length));
  }

  // What a Blob is made of.
  part(offset, size) {
    return this.bytes.subarray(offset, offset + size);
  }
}

// A Blob or File, in a worker, which alone may read them at once.
export class BlobSource {
  #reader = new FileReaderSync();

  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
  }

  read(offset, to) {
    const slice = this.blob.slice(offset, offset + to.length);
    to.set(new Uint8Array(this.#reader.readAsArrayBuffer(slice)));
  }

  part(offset, size) {
    return this.blob.slice(offset, offset + size);
  }
}

// Where bytes go that would fill the memory of JavaScript. A Blob's are the browser's to keep, on
// disk where they are many.
class BlobStore {
  put(bytes) {
    return {source: new BlobSource(new Blob([bytes])), offset: 0};
  }
}

let makeStore = globalThis.FileReaderSync ? () => new BlobStore() : null;

// Another place: `make` gives one for each file that is written, whose put(bytes) returns a source
// and an offset in it.
export function keepWrittenBytes(make) {
  makeStore = make;
}

const CHUNK = 1 << 20;  // bytes that small writes are gathered in
const KEPT = 32 << 20;  // bytes that stay in the memory of JavaScript

// A file that the module writes: bytes, and parts of other files, which are not copied.
export class WrittenSource {
  size = 0;
  #parts = [];  // {at, size, source, offset, isKept}
  #chunk = new Uint8Array(CHUNK);
  #used = 0;
  #resident = 0;
  #store = null;

  append(bytes) {
    while (bytes.length > 0) {
      const count = Math.min(bytes.length, this.#chunk.length - this.#used);
      this.#chunk.set(bytes.subarray(0, count), this.#used);
      this.#used += count;
      this.size += count;
      bytes = bytes.subarray(count);
      if (this.#used === this.#chunk.length) this.#flush();
    }
  }

  appendPart(source, offset, size) {
    this.#flush();
    this.#parts.push({at: this.size, size, source, offset});
    this.size += size;
  }

  read(offset, to) {
    this.#flush();
    let done = 0;
    for (let i = this.#find(offset); done < to.length; ++i) {
      const {at, size, source, offset: from} = this.#parts[i];
      const begin = offset + done - at, count = Math.min(size - begin, to.length - done);
      source.read(from + begin, to.subarray(done, done + count));
      done += count;
    }
  }

  parts() {
    this.#flush();
    return this.#parts.map(({source, offset, size}) => source.part(offset, size));
  }

  part(offset, size) {
    const bytes = new Uint8Array(size);
    this.read(offset, bytes);
    return bytes;
  }

  #find(offset) {
    let low = 0, high = this.#parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#parts[middle].at <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #flush() {
    if (this.#used === 0) return;
    const bytes = this.#chunk.slice(0, this.#used), at = this.size - this.#used;
    this.#parts.push({at, size: bytes.length, source: new BytesSource(bytes), offset: 0, isKept: true});
    this.#resident += bytes.length;
    this.#used = 0;
    if (this.#resident >= KEPT && makeStore) this.#putAway();
  }

  #putAway() {
    this.#store ??= makeStore();
    this.#parts = this.#parts.map(part => (part.isKept
      ? {...part, ...this.#store.put(part.source.bytes), isKept: false} : part));
    this.#resident = 0;
  }
}
