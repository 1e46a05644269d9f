/// <reference types="@cloudflare/vitest-plugin/types" />
import type { D1Migration } from "cloudflare:test";
import type { LocalEnv } from "../local/env.ts";

declare global {
  namespace Cloudflare {
    interface Env extends LocalEnv {
      TEST_MIGRATIONS: D1Migration[];
      THREE_A_MINUTE: RateLimit;
    }
  }
}

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of the file server, without a trailing slash. */
    filesOrigin: string;
    /** Origin of the stubbed platforms: test/setup/platform-server.ts. */
    platformsOrigin: string;
    pixelfedOrigin: string;
    /** Origin of the webhook receivers: test/setup/webhook-server.ts. */
    webhooksOrigin: string;
    /** Origin of the server of malformed responses: test/setup/malformed-server.ts. */
    malformedOrigin: string;
  }
}
