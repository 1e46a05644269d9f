import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../local/worker.ts";

/** Sends a request to a Worker with other bindings or settings. */
export async function fetchDeployed(
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
