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
    /** Of the file server, without a slash at its end. */
    filesOrigin: string;
    /** Of the made-up platforms: test/setup/platform-server.ts. */
    platformsOrigin: string;
    pixelfedOrigin: string;
    /** Of the receivers of webhooks: test/setup/webhook-server.ts. */
    webhooksOrigin: string;
    /** Of the server that keeps to nothing: test/setup/hostile-server.ts. */
    hostileOrigin: string;
  }
}
