export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning' | 'note';
  message: string;
  help?: string;
  op?: string;
  module_path?: string;
  file?: string;
  line?: number;
}

export class SardonyxError extends Error {
  readonly diagnostics: Diagnostic[];
}

export interface Model {
  readonly id: number;
  readonly name: string;
  readonly kind: 'program' | 'model' | 'weights';
  readonly bytes: number;
  /** Whether it has external data. */
  readonly data: boolean;
  /** The model that it was made from. */
  readonly from: number | null;
  readonly settings: string;
}

/** The options of `sardonyx convert` and `sardonyx optimize`. */
export interface RunOptions {
  runtime?: string;
  opset?: number;
  precision?: string;
  /** Sizes that dynamic dimensions get. */
  fixed?: Record<string, number>;
  /** The largest sizes of dynamic dimensions. */
  max?: Record<string, number>;
  /** Inputs of a TorchScript file: "x:float32[batch,3,224,224]". */
  input?: string[];
  /** Dynamic dimensions of a trace: "x:0,2". */
  dynamic?: string[];
  /** Whether nodes name the rules that made them. */
  rules?: boolean;
}

export interface Result {
  model: Model;
  nodesBefore: number | null;
  nodesAfter: number;
  seconds: number;
  notes: Diagnostic[];
  applied: {name: string; count: number}[];
}

/** A file that is read in slices. */
export interface Source {
  readonly size: number;
  /** Fills `to` with the bytes from `offset` on. */
  read(offset: number, to: Uint8Array): void;
  /** Some of its bytes, for a Blob. */
  part(offset: number, size: number): BlobPart;
}

/** A Blob or File is read in slices, in a worker only. */
export type Content = Uint8Array | ArrayBuffer | Blob | Source;

export interface Sardonyx {
  readonly version: string;
  readonly targets: {name: string; opset: number}[];
  readonly precisions: string[];
  /** The oldest and the newest opset. */
  readonly opsets: [number, number];

  /** Adds a .pt2, .pt, .onnx or .safetensors file, after the external data that it reads. */
  add(name: string, content: Content, options?: {data?: [string, Content][]}): Model;
  /** Converts a program, or optimizes a model. */
  run(model: Model, options?: RunOptions): Result;
  bytes(model: Model): Uint8Array;
  externalData(model: Model): Uint8Array | null;
  /** The bytes, to be read in slices while the model is not removed. */
  source(model: Model): Source;
  externalDataSource(model: Model): Source | null;
  /** The viewer, as one page of HTML. */
  page(model: Model): string;
  /** The viewer with two models side by side. */
  comparison(before: Model, after: Model): string;
  remove(model: Model): void;
}

/** The library. Without an argument, `sardonyx.wasm` is read next to this file. */
export function load(wasm?: BufferSource | WebAssembly.Module): Promise<Sardonyx>;
