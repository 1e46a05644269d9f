import { ingestFiles } from "../../tools/ingest-files.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { type Service, withService } from "../../tools/service.ts";
import type { SuiteOptions } from "../../tools/suite.ts";
import { SMALL_LIMITS } from "./small-limits.ts";

/** A shard of an index that has grown to small limits. */
export interface GrownShard {
  shard: number;
  vectorPair: number;
  assets: number;
}

/** Ingests images into one index of a service with small limits. Returns the index's shards. */
export function growIndex(options: SuiteOptions, files: MediaFile[]): Promise<GrownShard[]> {
  const grow = async ({ sightline, url, folder }: Service) => {
    const target = { sightline, indexName: "grown", serviceUrl: url, stateFolder: folder };
    await sightline.indices.create({ index_name: "grown" });
    let shards: GrownShard[] = [];
    for (let i = 0; i < files.length; i += SMALL_LIMITS.batchSize) {
      const batch = files.slice(i, i + SMALL_LIMITS.batchSize);
      await ingestFiles(batch, { ...target, output: process.stderr });
      const response = await fetch(`${url}/count`, { method: "POST", signal: options.signal });
      shards = (await response.json()) as GrownShard[];
    }
    return shards;
  };
  return withService(options, grow, { entry: "bench/capacity/small-worker.ts" });
}
