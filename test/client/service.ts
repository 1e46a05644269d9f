import { exports } from "cloudflare:workers";
import { type Fetch, Sightline, type SightlineOptions } from "../../client/src/index.ts";
import { newClient } from "../support/client.ts";
import { requireContract } from "../support/contract.ts";

const URL_OF_SERVICE = "https://sightline.test";

/** Sends requests to the Worker. Every response is validated against the OpenAPI document. */
export const fetchService: Fetch = async (url, init) => {
  const response = await exports.default.fetch(new Request(url, init));
  await requireContract(init.method ?? "GET", new URL(url).pathname, response);
  return response;
};

/** Returns a client of a new account. */
export async function newSightline(options: Partial<SightlineOptions> = {}): Promise<Sightline> {
  const { key } = await newClient();
  return new Sightline({ url: URL_OF_SERVICE, apiKey: key, fetch: fetchService, ...options });
}

export interface SentRequest {
  method: string;
  path: string;
  key: string | null;
  body: RequestInit["body"];
}

/** What happens to one request instead of its response: nothing, or another response or error. */
type Disturbance = (url: string, init: RequestInit) => Promise<Response> | undefined;

/** Fetch that records its requests, of which `disturb` may break some. */
export function recordingFetch(disturb: Disturbance = () => undefined): {
  fetch: Fetch;
  sent: SentRequest[];
} {
  const sent: SentRequest[] = [];
  return {
    sent,
    fetch: (url, init) => {
      sent.push({
        method: init.method ?? "GET",
        path: new URL(url).pathname,
        key: new Headers(init.headers).get("idempotency-key"),
        body: init.body ?? null,
      });
      return disturb(url, init) ?? fetchService(url, init);
    },
  };
}

/** Returns the first disturbance for the first request, the second for the next, and so on. */
export function inOrder(...disturbances: Disturbance[]): Disturbance {
  return (url, init) => disturbances.shift()?.(url, init);
}

/** Lets the service act, and loses its response. */
export const loseResponse: Disturbance = async (url, init) => {
  await (await fetchService(url, init)).text();
  throw new TypeError("connection lost");
};

/** Refuses a request as a busy service does. */
export function refuse(status: number, headers: Record<string, string> = {}): Disturbance {
  return () => Promise.resolve(Response.json({ detail: "Retry later." }, { status, headers }));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
