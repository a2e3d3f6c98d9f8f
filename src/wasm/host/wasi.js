// The functions of WASI that the module imports, over a tree of files.
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md has the layouts.
import {ERRNO, FileError, OpenFile} from './files.js';

const DIRECTORY = 3, REGULAR_FILE = 4, CHARACTER_DEVICE = 2;
const CREATE = 1, ONLY_DIRECTORY = 2, EXCLUSIVE = 4, TRUNCATE = 8, APPEND = 1;
const ALL_RIGHTS = (1n << 30n) - 1n;
const ROOT = 3;  // the descriptor of "/"

export class Exit extends Error {}

export class Wasi {
  #memory = null;
  #open = new Map();
  #next = ROOT + 1;
  #lines = ['', ''];

  // `print` gets lines of standard output and standard error.
  constructor(tree, print = () => {}) {
    this.tree = tree;
    this.print = print;
    this.#open.set(ROOT, new OpenFile(tree.root));
  }

  // The imports of a module. Functions that are not here fail as one that the system does not have.
  imports(module) {
    const copy = (fd, at, size, offset, bytes) => this.#copy(fd, at >>> 0, size, offset, bytes);
    const wasi = {}, sardonyx = {copy: guarded(copy)};
    for (const {module: from, name} of WebAssembly.Module.imports(module)) {
      if (from !== 'wasi_snapshot_preview1') continue;
      wasi[name] = this[name] ? guarded((...words) => this[name](...words.map(unsigned)))
        : () => ERRNO.notSupported;
    }
    return {wasi_snapshot_preview1: wasi, sardonyx};
  }

  useMemory(memory) {
    this.#memory = memory;
  }

  // --- memory, whose buffer changes whenever it grows

  get #view() {
    return new DataView(this.#memory.buffer);
  }

  bytes(at, size) {
    return new Uint8Array(this.#memory.buffer, at, size);
  }

  text(at, size) {
    return new TextDecoder().decode(this.bytes(at, size));
  }

  #file(fd) {
    const file = this.#open.get(fd);
    if (!file) throw new FileError(ERRNO.badDescriptor);
    return file;
  }

  // The path of a name that is relative to an open folder. Only "/" is opened before others.
  #path(fd, at, size) {
    const file = this.#file(fd);
    if (!file.node.entries) throw new FileError(ERRNO.notDirectory);
    return `${file.path ?? ''}/${this.text(at, size)}`;
  }

  * #buffers(at, count) {
    for (let i = 0; i < count; ++i) {
      const view = this.#view;
      yield this.bytes(view.getUint32(at + 8 * i, true), view.getUint32(at + 8 * i + 4, true));
    }
  }

  #stat(node, at) {
    const view = this.#view;
    this.bytes(at, 64).fill(0);
    view.setBigUint64(at, 1n, true);
    view.setBigUint64(at + 8, BigInt(node.ino), true);
    view.setUint8(at + 16, node.entries ? DIRECTORY : REGULAR_FILE);
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(node.source?.size ?? 0), true);
  }

  // --- files

  path_open(fd, _, at, size, how, _rights, _inheriting, flags, result) {
    const path = this.#path(fd, at, size);
    const node = this.tree.open(path, {
      create: (how & CREATE) !== 0, exclusive: (how & EXCLUSIVE) !== 0,
      truncate: (how & TRUNCATE) !== 0, directory: (how & ONLY_DIRECTORY) !== 0,
    });
    const file = new OpenFile(node, {append: (flags & APPEND) !== 0});
    file.path = path;
    this.#open.set(this.#next, file);
    this.#view.setUint32(result, this.#next++, true);
  }

  fd_close(fd) {
    this.#file(fd);
    this.#open.delete(fd);
  }

  fd_read(fd, at, count, result) {
    const file = this.#file(fd);
    if (file.node.entries) throw new FileError(ERRNO.isDirectory);
    let total = 0;
    for (const buffer of this.#buffers(at, count)) {
      const done = file.readAt(file.position, buffer);
      file.position += done;
      total += done;
      if (done < buffer.length) break;
    }
    this.#view.setUint32(result, total, true);
  }

  fd_pread(fd, at, count, offset, result) {
    const file = this.#file(fd);
    let total = 0;
    for (const buffer of this.#buffers(at, count)) total += file.readAt(Number(offset) + total, buffer);
    this.#view.setUint32(result, total, true);
  }

  fd_write(fd, at, count, result) {
    let total = 0;
    for (const buffer of this.#buffers(at, count)) {
      if (fd === 1 || fd === 2) this.#printed(fd, new TextDecoder().decode(buffer));
      else this.#file(fd).write(buffer);
      total += buffer.length;
    }
    this.#view.setUint32(result, total, true);
  }

  #printed(fd, text) {
    const lines = (this.#lines[fd - 1] + text).split('\n');
    this.#lines[fd - 1] = lines.pop();
    for (const line of lines) this.print(line);
  }

  fd_seek(fd, offset, from, result) {
    const file = this.#file(fd);
    if (fd <= 2) throw new FileError(ERRNO.invalid);
    const base = [0, file.position, file.node.source?.size ?? 0][from];
    const position = base + Number(offset);
    if (!(position >= 0)) throw new FileError(ERRNO.invalid);
    file.position = position;
    this.#view.setBigUint64(result, BigInt(position), true);
  }

  fd_fdstat_get(fd, at) {
    const type = fd <= 2 ? CHARACTER_DEVICE : this.#file(fd).node.entries ? DIRECTORY : REGULAR_FILE;
    this.bytes(at, 24).fill(0);
    this.#view.setUint8(at, type);
    this.#view.setBigUint64(at + 8, ALL_RIGHTS, true);
    this.#view.setBigUint64(at + 16, ALL_RIGHTS, true);
  }

  fd_fdstat_set_flags() {}

  fd_filestat_get(fd, at) {
    this.#stat(this.#file(fd).node, at);
  }

  path_filestat_get(fd, _, at, size, result) {
    this.#stat(this.tree.find(this.#path(fd, at, size)), result);
  }

  path_create_directory(fd, at, size) {
    this.tree.makeDirectory(this.#path(fd, at, size));
  }

  path_remove_directory(fd, at, size) {
    this.tree.remove(this.#path(fd, at, size), {isDirectory: true});
  }

  path_unlink_file(fd, at, size) {
    this.tree.remove(this.#path(fd, at, size), {isDirectory: false});
  }

  path_rename(fd, at, size, newFd, newAt, newSize) {
    this.tree.rename(this.#path(fd, at, size), this.#path(newFd, newAt, newSize));
  }

  path_link(fd, _, at, size, newFd, newAt, newSize) {
    this.tree.link(this.#path(fd, at, size), this.#path(newFd, newAt, newSize));
  }

  path_readlink() {
    throw new FileError(ERRNO.invalid);  // there are no symbolic links
  }

  fd_readdir(fd, at, size, cookie, result) {
    const entries = [...this.#file(fd).node.entries ?? []];
    let used = 0;
    for (let i = Number(cookie); i < entries.length && used < size; ++i) {
      const [name, node] = entries[i], encoded = new TextEncoder().encode(name);
      const entry = new Uint8Array(24 + encoded.length), view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(node.ino), true);
      view.setUint32(16, encoded.length, true);
      view.setUint8(20, node.entries ? DIRECTORY : REGULAR_FILE);
      entry.set(encoded, 24);
      const part = entry.subarray(0, size - used);
      this.bytes(at + used, part.length).set(part);
      used += part.length;
    }
    this.#view.setUint32(result, used, true);
  }

  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return ERRNO.badDescriptor;
    this.#view.setUint32(at, 0, true);
    this.#view.setUint32(at + 4, 1, true);
  }

  fd_prestat_dir_name(_, at) {
    this.bytes(at, 1)[0] = '/'.charCodeAt(0);
  }

  // A part of one file at the end of another, by reference.
  #copy(fd, at, size, offset, bytes) {
    const {source} = this.tree.find(this.text(at, size)), to = this.#file(fd);
    if (offset + bytes > source.size) throw new FileError(ERRNO.io);
    to.node.source.appendPart(source, offset, bytes);
    to.position = to.node.source.size;
  }

  // --- the rest of the system

  environ_sizes_get(count, size) {
    this.#view.setUint32(count, 0, true);
    this.#view.setUint32(size, 0, true);
  }

  environ_get() {}

  clock_time_get(_clock, _precision, result) {
    const now = performance.timeOrigin + performance.now();
    this.#view.setBigUint64(result, BigInt(Math.round(now * 1e6)), true);
  }

  random_get(at, size) {
    const most = 65536;  // of getRandomValues
    for (let done = 0; done < size; done += most)
      crypto.getRandomValues(this.bytes(at + done, Math.min(most, size - done)));
  }

  sched_yield() {}

  proc_exit(code) {
    throw new Exit(`the module ended with code ${code}`);
  }
}

// Addresses above 2 GB arrive as negative numbers.
function unsigned(word) {
  return typeof word === 'number' ? word >>> 0 : word;
}

// Returns error numbers for what is thrown.
function guarded(run) {
  return (...words) => {
    try {
      return run(...words) ?? ERRNO.ok;
    } catch (wrong) {
      if (wrong instanceof FileError) return wrong.errno;
      if (wrong instanceof Exit) throw wrong;
      return ERRNO.io;  // a file that is gone, a quota that ended
    }
  };
}
