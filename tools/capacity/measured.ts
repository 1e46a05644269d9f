/** Bytes in two stores, and numbers of vectors. */
interface StoreSizes {
  d1: number;
  indexDatabases: number;
  textVectors: number;
  imageVectors: number;
}

/** A shard of an index that has grown to small limits. */
export interface GrownShard {
  shard: number;
  vectorPair: number;
  assets: number;
}

/** What `npm run bench -- capacity --json` measures and `npm run simulate` starts from. */
export interface MeasuredCapacity<Sizes extends StoreSizes = StoreSizes> {
  /** Length of the measured video in minutes. */
  minutes: number;
  /** What an hour of such a video adds to the stores. */
  hour: Sizes;
  /** What an image adds. */
  image: Sizes;
  /** Bytes of an index database without assets. */
  emptyDatabase: number;
  /** Limits at which the images were ingested into one index, in place of `LIMITS`. */
  limits: {
    shardBytes: number;
    vectorsPerPair: number;
    /** Images between two counts of the vectors. */
    batchSize: number;
  };
  images: number;
  /** The shards that the index has opened. */
  shards: GrownShard[];
}
