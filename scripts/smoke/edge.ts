import { setTimeout as wait } from "node:timers/promises";
import { PermissionError, type Sightline, ValidationError } from "sightline";

/** What a deployment's edge and its triggers have shown. */
export interface EdgeFacts {
  /** Status of the console's page, and whether it has the headers of `console/_headers`. */
  console: { status: number; hasHeaders: boolean };
  /** Value of the header `RateLimit-Policy`; null if there is none. */
  rateLimitPolicy: string | null;
  /** Private addresses that were taken as the URL of an image. */
  fetchable: string[];
  /** When the cron trigger last ran; null: never. Unknown without the scope `operator`. */
  sweep: { secondsAgo: number } | null | "unknown";
  /** Status of a body of over 100 MB, and whether the Worker answered; null if not sent. */
  largeBody: { status: number; byWorker: boolean } | null;
}

/** The deployment that is observed, and an index of it. */
interface Observed {
  url: string;
  key: string;
  index: string;
  /** Whether to send a body of 100 MB. */
  sendsLargeBody: boolean;
  signal: AbortSignal;
}

const LARGE_BODY_BYTES = 100_000_001;
const CHUNK_BYTES = 1_000_000;

const PRIVATE_URLS = [
  "http://127.0.0.1/a.jpg",
  "http://169.254.169.254/a.jpg",
  "http://[::1]/a.jpg",
];
/** A cron trigger takes effect some minutes after the first deployment. */
const SWEEP_MS = 5 * 60_000;
const POLL_MS = 2000;

/** Looks at what stands before the Worker, and at what starts it beside requests. */
export async function observeEdge(sightline: Sightline, observed: Observed): Promise<EdgeFacts> {
  const { url, key, index, signal } = observed;
  const page = await fetch(`${url}/`, { signal });
  await page.body?.cancel();
  const list = await fetch(`${url}/index`, {
    headers: { "X-API-Key": key },
    redirect: "error",
    signal,
  });
  await list.body?.cancel();
  return {
    console: {
      status: page.status,
      hasHeaders: page.headers.has("content-security-policy"),
    },
    rateLimitPolicy: list.headers.get("ratelimit-policy"),
    fetchable: await listFetchable(sightline, index),
    sweep: await awaitSweep(sightline),
    largeBody: observed.sendsLargeBody ? await sendLargeBody(observed) : null,
  };
}

async function listFetchable(sightline: Sightline, index: string): Promise<string[]> {
  const fetchable: string[] = [];
  for (const url of PRIVATE_URLS) {
    try {
      await sightline.index(index).images.add({ image_url: url });
      fetchable.push(url);
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
    }
  }
  return fetchable;
}

/** Waits until the cron trigger has run. */
async function awaitSweep(sightline: Sightline): Promise<EdgeFacts["sweep"]> {
  for (const start = Date.now(); Date.now() - start < SWEEP_MS; await wait(POLL_MS)) {
    try {
      const { deployment } = await sightline.health({ deep: true });
      const at = deployment?.last_swept_at;
      if (at) return { secondsAgo: Math.max(0, Date.now() - Date.parse(at)) / 1000 };
    } catch (error) {
      if (error instanceof PermissionError) return "unknown";
      throw error;
    }
  }
  return null;
}

/** Sends a body of 100 MB to an index that doesn't exist, so that nothing is stored. */
async function sendLargeBody({ url, key, signal }: Observed): Promise<EdgeFacts["largeBody"]> {
  async function* chunks() {
    for (let sent = 0; sent < LARGE_BODY_BYTES; sent += CHUNK_BYTES) {
      yield new Uint8Array(Math.min(CHUNK_BYTES, LARGE_BODY_BYTES - sent));
    }
  }
  const response = await fetch(`${url}/index/no-such-index/image`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "multipart/form-data; boundary=none" },
    body: ReadableStream.from(chunks()),
    duplex: "half",
    redirect: "error",
    signal,
  });
  await response.body?.cancel();
  return { status: response.status, byWorker: response.headers.has("x-request-id") };
}
