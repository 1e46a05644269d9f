import type { EngineEnv } from "./engine-client.ts";
import type { FaultsEnv } from "./faults.ts";
import type { SpaceEnv, VectorSpace } from "./vector-space.ts";

/** Variables and objects that only `local/wrangler.toml` binds, for the stand-ins. */
export interface LocalEnv extends EngineEnv, FaultsEnv, SpaceEnv {
  VECTOR_SPACES: DurableObjectNamespace<VectorSpace>;
}
