import { WorkerEntrypoint } from "cloudflare:workers";
import type { LocalEnv } from "./env.ts";
import type { MetadataType } from "./vector-facets.ts";
import {
  checkIds,
  checkQuery,
  checkQueryVector,
  checkVectors,
  type StoredVector,
  vectorizeError,
} from "./vector-limits.ts";
import type { SpaceMatch, SpaceProps } from "./vector-space.ts";

/** The service's response; the published type wrongly declares both `processed…` as numbers. */
export interface SpaceInfo {
  vectorCount: number;
  dimensions: number;
  processedUpToDatetime: string | null;
  processedUpToMutation: string | null;
}

/**
 * Stands in for a Vectorize index without an account: exact search, production's limits and errors.
 * Writes become visible within `VECTORIZE_LAG_MS`. The binding's props name one object per space.
 */
export class LocalVectorize
  extends WorkerEntrypoint<LocalEnv, SpaceProps>
  implements Omit<Vectorize, "describe">
{
  async insert(vectors: VectorizeVector[]): Promise<VectorizeAsyncMutation> {
    const { props } = this.ctx;
    const stored = checkVectors("VECTOR_INSERT", vectors, props.dimensions);
    return { mutationId: await this.#space().write("insert", stored, props) };
  }

  async upsert(vectors: VectorizeVector[]): Promise<VectorizeAsyncMutation> {
    const { props } = this.ctx;
    const stored = checkVectors("VECTOR_UPSERT", vectors, props.dimensions);
    return { mutationId: await this.#space().write("upsert", stored, props) };
  }

  async deleteByIds(ids: string[]): Promise<VectorizeAsyncMutation> {
    return { mutationId: await this.#space().delete(checkIds("VECTOR_DELETE", ids)) };
  }

  async getByIds(ids: string[]): Promise<VectorizeVector[]> {
    const found = await this.#space().get(checkIds("VECTOR_GET", ids));
    return found.map((vector) =>
      Object.assign(identity(vector), metadataOf(vector, "all"), {
        values: this.#padded(vector.values),
      }),
    );
  }

  async query(
    vector: VectorFloatArray | number[],
    options?: VectorizeQueryOptions,
  ): Promise<VectorizeMatches> {
    return this.#search(checkQueryVector(vector, this.ctx.props.dimensions), options);
  }

  async queryById(vectorId: string, options?: VectorizeQueryOptions): Promise<VectorizeMatches> {
    return this.#search({ id: vectorId }, options);
  }

  async describe(): Promise<SpaceInfo> {
    const { vectorCount, processedAt, mutation } = await this.#space().describe();
    return {
      vectorCount,
      dimensions: this.ctx.props.dimensions,
      processedUpToDatetime: processedAt === null ? null : new Date(processedAt).toISOString(),
      processedUpToMutation: mutation,
    };
  }

  /** Does `wrangler vectorize create-metadata-index`: only vectors written later are covered. */
  async createMetadataIndex(property: string, type: MetadataType): Promise<void> {
    const created = await this.#space().createMetadataIndex(property, type, this.ctx.props);
    if (!created) throw vectorizeError("INDEX_GET", "an index has at most 10 metadata indexes");
  }

  async #search(
    vector: Float32Array | { id: string },
    options: VectorizeQueryOptions | undefined,
  ): Promise<VectorizeMatches> {
    const plan = checkQuery(options);
    const found = await this.#space().query({ vector, ...plan });
    if (!found) throw vectorizeError("VECTOR_QUERY", "the vector to query by was not found");
    const matches = found.map((match) =>
      Object.assign(
        identity(match),
        { score: match.score },
        match.values ? { values: this.#padded(match.values) } : {},
        metadataOf(match, plan.returnMetadata),
      ),
    );
    return { count: matches.length, matches };
  }

  #padded(values: Float32Array): number[] {
    const padded = new Float32Array(this.ctx.props.dimensions);
    padded.set(values);
    return Array.from(padded);
  }

  #space() {
    return this.env.VECTOR_SPACES.getByName(this.ctx.props.name);
  }
}

function identity({
  id,
  namespace,
}: Pick<StoredVector, "id" | "namespace">): Pick<VectorizeVector, "id" | "namespace"> {
  return namespace === "" ? { id } : { id, namespace };
}

function metadataOf(
  { metadata, indexed }: Pick<SpaceMatch, "metadata" | "indexed">,
  level: VectorizeMetadataRetrievalLevel,
): Pick<VectorizeVector, "metadata"> {
  if (level === "none") return {};
  if (level === "all") return metadata === null ? {} : { metadata: parseMetadata(metadata) };
  const entries = Object.entries(indexed ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  return { metadata: Object.fromEntries(entries) };
}

function parseMetadata(text: string): Record<string, VectorizeVectorMetadata> {
  const metadata: Record<string, VectorizeVectorMetadata> = JSON.parse(text);
  return metadata;
}
