import type { EngineEnv } from "./engine-client.ts";
import type { FaultsEnv } from "./faults.ts";
import type { SpaceEnv, VectorSpace } from "./vector-space.ts";

/** Variables and objects that only `local/wrangler.toml` binds, for the stand-ins. */
export interface LocalEnv extends EngineEnv, FaultsEnv, SpaceEnv {
  VECTOR_SPACES: DurableObjectNamespace<VectorSpace>;
  /** How FRAMES reads the size of a contact sheet: as that of a `tile`, or of the `sheet`. */
  SHEET_SIZE_OF: string;
  /** Most images of a contact sheet that FRAMES makes; without a limit if empty. */
  MAX_IMAGE_COUNT: string;
  /** Codecs that FRAMES decodes beside H.264, separated by commas. */
  FRAMES_DECODES: string;
}
