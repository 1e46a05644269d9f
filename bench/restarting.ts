import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApi } from "../scripts/demo/api-client.ts";
import { createKey } from "../scripts/stack/api-key.ts";
import { findFreePort } from "../scripts/stack/ports.ts";
import { startStack } from "../scripts/stack/stack.ts";
import type { SuiteOptions } from "./suite.ts";

/** The service, until it is stopped. */
export interface Started {
  url: string;
  key: string;
  api: Api;
  stop: () => Promise<void>;
}

/** The service on one state folder, which can be started again and again. */
export async function withRestarts<T>(
  { log, signal }: Pick<SuiteOptions, "log" | "signal">,
  use: (start: () => Promise<Started>) => Promise<T>,
): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "sightline-restarts-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  try {
    return await use(async () => {
      const stack = await startStack({ port, enginePort, stateDir, log, signal });
      const key = await createKey(stack.keySecrets, { account: "bench" });
      return {
        url: stack.url,
        key,
        api: openApi(stack.url, key, signal),
        stop: () => stack.stop(),
      };
    });
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
