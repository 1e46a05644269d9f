import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../local/worker.ts";

/** Asks the Worker as it would answer were it deployed with other settings. */
export async function askDeployed(
  settings: Partial<Env>,
  key: string,
  path: string,
  init: { method?: string; body?: BodyInit; headers?: Record<string, string> } = {},
): Promise<Response> {
  const ctx = createExecutionContext();
  const request = new Request<unknown, IncomingRequestCfProperties>(
    new URL(path, "https://sightline.test"),
    { ...init, headers: { "x-api-key": key, ...init.headers } },
  );
  const response = await worker.fetch(request, { ...env, ...settings }, ctx);
  await waitOnExecutionContext(ctx);
  return response;
}
