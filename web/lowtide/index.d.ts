/**
 * Lowtide: congestion controllers compared in a deterministic packet simulator.
 *
 * `load` first; then the lists and `compare`.
 */

/** Loads the module, once. `source`: where it is not beside this package's `index.js`. */
export function load(source?: string | URL | BufferSource | WebAssembly.Module): Promise<WebAssembly.Module>;

export interface Parameter {
  name: string;
  summary: string;
  /** Its value when it is not given, as in a spec. */
  default: string;
  /** What fits, for people. */
  values: string;
  /** The words that fit, where nothing else does. */
  words?: string[];
}

/** A controller, a bound or a queue discipline. A spec is `name` or `name:key=value,key=value`. */
export interface Listed {
  name: string;
  summary: string;
  source: string;
  parameters: Parameter[];
}

export interface Model {
  name: string;
  summary: string;
  /** Mean rate when no other is given. */
  mean_mbps: number;
}

export interface Scenario {
  name: string;
  summary: string;
  /** As a scenario file has them. */
  sections: Record<string, unknown>;
}

/** A value of a setting that has a short name; `key`: the key of a section that it fills. */
export interface Knob {
  name: string;
  key: string;
  /** `nothing`, `whole`, `name` (one of `words`), or what its text is, as in `rate`. */
  takes: string;
  words: string[];
  about: string;
}

/** Controllers and bounds. */
export function controllers(): Listed[];
export function queues(): Listed[];
/** Models of generated links. */
export function models(): Model[];
/** Settings that need no input. */
export function scenarios(): Scenario[];
export function knobs(): Knob[];

/**
 * A setting, in the grammar of Lowtide's flags and scenario files: the short names of `knobs()`, and sections
 * (`link`, `path`, `run`, `flows`). Quantities are texts with their unit. Without a link it is the built-in
 * 4G-like one.
 */
export interface Setting {
  /** The name of one of `options.files`. */
  trace?: string;
  /** How many, or groups of flows as in a scenario file. */
  flows?: number | Record<string, unknown>[];
  [name: string]: unknown;
}

export interface About {
  link: string;
  rtt: string;
  duration_s: number;
  flows: number;
  seeds: number;
  /** How many runs it takes. */
  runs: number;
  /** Packets that the link can carry in all of them. */
  packets: number;
}

/** A comparison; what it tells is of the runs that are done. */
export interface Comparison {
  readonly about: About;
  /** Runs that are done, those that failed among them. */
  readonly done: number;
  /** Why runs failed. */
  readonly failed: string[];
  /** As `lowtide compare --json --no-timing` prints it. */
  json(): Promise<string>;
  /** What the report's scripts draw. */
  data(): Promise<string>;
  /** The report, an HTML page that needs nothing else. */
  report(): Promise<string>;
  /** Makes no more runs, at once; what is known stays. */
  stop(): void;
  /** Ends the worker that knows the results. */
  close(): void;
}

export interface Options {
  /** Traces by name: mahimahi's format, or a rate series if named `.csv`. */
  files?: Record<string, Uint8Array>;
  /** How many runs are made at once; one for each core. In Node, which has no web workers, one. */
  workers?: number;
  /** Stops it; what is known stays. */
  signal?: AbortSignal;
  /** The question is understood, and runs are being made. */
  onOpen?: (comparison: Comparison) => void;
  /** One more run is done. */
  onRun?: (comparison: Comparison) => void;
}

/**
 * Compares controllers, as in `["ebb", "cubic:abe=true"]`; without any, all of them. The same setting
 * gives the same numbers as the command line, on any number of workers.
 *
 * @throws {LowtideError} what is wrong with the setting or a file
 */
export function compare(setting: Setting, controllers?: string[], options?: Options): Promise<Comparison>;

export class LowtideError extends Error {
  /** The key of the setting that is to blame; empty where there is none. */
  readonly at: string;
}
