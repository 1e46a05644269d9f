import type { Faults } from "./faults.ts";
import type { VectorSpace } from "./vector-space.ts";

/** What `local/wrangler.toml` binds for the stand-ins beside what it binds for the Worker. */
export interface LocalEnv {
  ENGINE_URL: string;
  ENGINE_TOKEN: string;
  /** Milliseconds until a write to a vector space shows. */
  VECTORIZE_LAG_MS: string;
  VECTOR_SPACES: DurableObjectNamespace<VectorSpace>;
  FAULTS: DurableObjectNamespace<Faults>;
}

export type MetadataType = "string" | "number" | "boolean";

/** The `props` of a vector space's binding: what `wrangler vectorize create` fixes in production. */
export interface SpaceProps {
  name: string;
  dimensions: number;
  /** Created before the first vector, as the setup command does in production. */
  metadata_indexes: Record<string, MetadataType>;
}
