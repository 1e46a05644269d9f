/// <reference types="@cloudflare/vitest-plugin/types" />
import type { D1Migration } from "cloudflare:test";
import type { LocalEnv } from "../local/env.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
      VECTOR_SPACES: LocalEnv["VECTOR_SPACES"];
    }
  }
}

declare module "vitest" {
  interface ProvidedContext {
    /** Of the file server, without a slash at its end. */
    filesOrigin: string;
  }
}
