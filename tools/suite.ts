/** A measurement: a file of `quality/` (`npm run eval`) or `speed/` (`npm run bench`). */
export interface Suite {
  /** One line for `--help`. */
  summary: string;
  run(options: SuiteOptions): Promise<SuiteResult>;
}

export interface SuiteOptions {
  /** Folder with test media in subfolders: `videos`, `photos`, `speech`, … */
  dataDir: string;
  /** File with expectations (bench/quality/repro.ts); `<dataDir>/cases.json` by default. */
  casesFile?: string;
  /** Corpus sizes in segments, ascending, for suites that measure growth. */
  sizes: number[];
  /** Durations of generated videos in minutes, ascending. */
  minutes: number[];
  /** Number of generated requests. */
  requests: number;
  /** Seconds of attack on each operation. */
  seconds: number;
  /** Seed of generated requests: the same seed, the same requests. */
  seed: number;
  /** Prints a line of progress. */
  log: (line: string) => void;
  /** Aborts the run. */
  signal: AbortSignal;
}

export interface SuiteResult {
  /** Table for people; a row has a value per column. */
  table: Record<string, string | number>[];
  /** Result for machines, printed by `--json`. */
  json: Record<string, unknown>;
  /** Number of problems, for suites that allow none: the command fails if there are any. */
  problems?: number;
}

/** Returns the quantile `share` (0–1) of unsorted values by nearest rank; NaN if there are none. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 2): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
