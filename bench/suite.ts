/** One thing to measure: a file of `quality/` (`npm run eval`) or `speed/` (`npm run bench`). */
export interface Suite {
  /** What is measured, in a line for `--help`. */
  summary: string;
  run(options: SuiteOptions): Promise<Result>;
}

export interface SuiteOptions {
  /** Laid out like the project's development data: `videos`, `photos`, `speech`, … */
  dataDir: string;
  /** Of the corpus, in segments, ascending: for suites that measure growth. */
  sizes: number[];
  /** How long the generated videos are, ascending: for suites that measure by length. */
  minutes: number[];
  /** How many to send: for suites that make requests up. */
  requests: number;
  /** What they make them of: the same seed, the same requests. */
  seed: number;
  /** What a person should know while it runs. */
  log: (line: string) => void;
  /** Aborts the run. */
  signal: AbortSignal;
}

export interface Result {
  /** For people. Each row has a value a column. */
  table: Record<string, string | number>[];
  /** For machines: the last line of `--json`. */
  json: Record<string, unknown>;
}

/** The value below which `share` of the sorted or unsorted `values` lie. Nearest rank; NaN of nothing. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 2): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
