import type {Model, Sardonyx, Source} from './index.js';

/** A file on disk, which is open until `close()`. */
export class FileSource implements Source {
  constructor(path: string);
  readonly size: number;
  read(offset: number, to: Uint8Array): void;
  part(offset: number, size: number): Uint8Array;
  close(): void;
}

/** Writes all bytes of a source to a file, in slices. */
export function writeSource(source: Source, path: string): void;

/** Writes a model, and its external data beside it, under their names; returns the model's path. */
export function save(sardonyx: Sardonyx, model: Model, folder?: string): string;
