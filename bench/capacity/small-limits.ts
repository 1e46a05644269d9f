/** Limits at which an index of some hundred images opens a few shards, in place of `LIMITS`. */
export const SMALL_LIMITS = {
  shardBytes: 300_000,
  vectorsPerPair: 250,
  batchSize: 10, // images between two counts of the vectors
} as const;
