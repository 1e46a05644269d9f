import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../local/worker.ts";

/** Settings of a Worker whose jobs are queued and never delivered. */
export const withoutDelivery = { JOBS: { send: async () => {} } as unknown as Env["JOBS"] };

/**
 * Sends a request to a Worker with other bindings or settings. Waits for what the Worker does after
 * it has responded, which `onResponse` is called before.
 */
export async function fetchDeployed(
  settings: Partial<Env>,
  key: string,
  path: string,
  init: Pick<RequestInit, "method" | "body" | "signal"> & { headers?: Record<string, string> } = {},
  onResponse: () => void = () => {},
): Promise<Response> {
  const ctx = createExecutionContext();
  const request = new Request<unknown, IncomingRequestCfProperties>(
    new URL(path, "https://sightline.test"),
    { ...init, headers: { "x-api-key": key, ...init.headers } },
  );
  const response = await worker.fetch(request, { ...env, ...settings }, ctx);
  onResponse();
  await waitOnExecutionContext(ctx);
  return response;
}
