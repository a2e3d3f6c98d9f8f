// The files that the module sees: a tree in memory, whose files are sources.
import {BytesSource, WrittenSource} from './sources.js';

// Error numbers of WASI.
export const ERRNO = {
  ok: 0, badDescriptor: 8, exists: 20, invalid: 28, io: 29, isDirectory: 31, noEntry: 44, noSpace: 51,
  notSupported: 52, notDirectory: 54, notEmpty: 55,
};

export class FileError extends Error {
  constructor(errno) {
    super(`error ${errno}`);
    this.errno = errno;
  }
}

export class FileTree {
  #last = 0;
  root = this.#directory();

  #directory() {
    return {ino: ++this.#last, entries: new Map()};
  }

  // --- by path; folders are divided by slashes, wherever the path begins

  find(path) {
    let node = this.root;
    for (const name of names(path)) {
      if (!node.entries) throw new FileError(ERRNO.notDirectory);
      node = node.entries.get(name);
      if (!node) throw new FileError(ERRNO.noEntry);
    }
    return node;
  }

  // The folder of a path, and its last name.
  #place(path) {
    const all = names(path), name = all.pop();
    const folder = this.find(all.join('/'));
    if (!folder.entries) throw new FileError(ERRNO.notDirectory);
    return {folder, name};
  }

  makeDirectory(path) {
    const {folder, name} = this.#place(path);
    if (name === undefined || folder.entries.has(name)) throw new FileError(ERRNO.exists);
    folder.entries.set(name, this.#directory());
  }

  // Puts a file there, in place of what was.
  add(path, source) {
    const {folder, name} = this.#place(path);
    const node = {ino: ++this.#last, source};
    folder.entries.set(name, node);
    return node;
  }

  open(path, {create, exclusive, truncate, directory}) {
    let node = null;
    try {
      node = this.find(path);
    } catch (wrong) {
      if (!create || wrong.errno !== ERRNO.noEntry) throw wrong;
    }
    if (!node) return this.add(path, new WrittenSource());
    if (exclusive) throw new FileError(ERRNO.exists);
    if (directory && !node.entries) throw new FileError(ERRNO.notDirectory);
    // Another one: who holds its bytes knows it by its number.
    if (truncate) return this.add(path, new WrittenSource());
    return node;
  }

  remove(path, {isDirectory}) {
    const node = this.find(path), {folder, name} = this.#place(path);
    if (isDirectory && !node.entries) throw new FileError(ERRNO.notDirectory);
    if (!isDirectory && node.entries) throw new FileError(ERRNO.isDirectory);
    if (node.entries?.size) throw new FileError(ERRNO.notEmpty);
    folder.entries.delete(name);
  }

  // A second name for a file.
  link(from, to) {
    const node = this.find(from), {folder, name} = this.#place(to);
    if (node.entries) throw new FileError(ERRNO.isDirectory);
    if (folder.entries.has(name)) throw new FileError(ERRNO.exists);
    folder.entries.set(name, node);
  }

  rename(from, to) {
    const node = this.find(from), old = this.#place(from), place = this.#place(to);
    old.folder.entries.delete(old.name);
    place.folder.entries.set(place.name, node);
  }
}

function names(path) {
  const found = [];
  for (const name of path.split('/')) {
    if (name === '..') found.pop();
    else if (name !== '' && name !== '.') found.push(name);
  }
  return found;
}

// An open file of a tree.
export class OpenFile {
  position = 0;

  constructor(node, {append = false} = {}) {
    this.node = node;
    this.append = append;
  }

  readAt(offset, to) {
    const {source} = this.node;
    const count = Math.max(0, Math.min(to.length, source.size - offset));
    if (count > 0) source.read(offset, to.subarray(0, count));
    return count;
  }

  // Files are written from their beginning to their end.
  write(bytes) {
    const {source} = this.node;
    if (!(source instanceof WrittenSource)) throw new FileError(ERRNO.invalid);
    if (!this.append && this.position !== source.size) throw new FileError(ERRNO.notSupported);
    source.append(bytes);
    this.position = source.size;
  }
}

export function sourceOf(bytes) {
  return new BytesSource(bytes);
}
