import { type Client, fixture, type Json } from "./client.ts";
import { fetchDeployed } from "./deployed.ts";

export const OCTETS = "application/offset+octet-stream";

export const encode = (text: string) => Buffer.from(text).toString("base64");

interface RequestOptions {
  body?: BodyInit;
  headers?: Record<string, string>;
}

/** A tus 1.0 client for the uploads of one index. */
export class TusClient {
  readonly client: Client;
  readonly index: string;

  constructor(client: Client, index: string) {
    this.client = client;
    this.index = index;
  }

  get uploadsPath(): string {
    return `/index/${this.index}/uploads`;
  }

  send(method: string, path: string, { body, headers }: RequestOptions = {}): Promise<Response> {
    return this.client.send(method, path, {
      headers: { "tus-resumable": "1.0.0", ...headers },
      ...(body !== undefined && { body }),
    });
  }

  create(headers: Record<string, string>, body?: BodyInit): Promise<Response> {
    const type = body === undefined ? {} : { "content-type": OCTETS };
    return this.send("POST", this.uploadsPath, {
      headers: { ...type, ...headers },
      ...(body && { body }),
    });
  }

  /** Creates an upload and returns its path. */
  async createUpload(length: number, headers: Record<string, string> = {}): Promise<string> {
    const response = await this.create({ "upload-length": String(length), ...headers });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    return new URL(response.headers.get("location")!).pathname;
  }

  patch(
    path: string,
    offset: number,
    body: BodyInit,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const patchHeaders = { "content-type": OCTETS, "upload-offset": String(offset), ...headers };
    return this.send("PATCH", path, { body, headers: patchHeaders });
  }

  /**
   * Sends `chunks` and disconnects. Calls the Worker directly: a service binding would end the body
   * as if it were complete.
   */
  sendThenDisconnect(
    path: string,
    offset: number | null,
    chunks: Uint8Array[],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const offsetHeader = offset === null ? {} : { "upload-offset": String(offset) };
    return fetchDeployed({}, this.client.key, path, {
      method: offset === null ? "POST" : "PATCH",
      body: disconnectAfter(chunks),
      headers: { "tus-resumable": "1.0.0", "content-type": OCTETS, ...offsetHeader, ...headers },
    });
  }

  /** Returns the upload's offset, or the status of a response without one. */
  async offset(path: string): Promise<number | string> {
    const response = await this.send("HEAD", path);
    const offset = response.headers.get("upload-offset");
    return offset === null ? `status ${response.status}` : Number(offset);
  }

  record(path: string): Promise<Json> {
    return this.client.json("GET", path);
  }
}

async function bytesOf(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await fixture(name)).arrayBuffer());
}

/**
 * Returns an image with random bytes behind it: equal bytes would be a duplicate. The default image
 * is truncated, so that its ingest soon fails.
 */
export async function createUniqueImage(name = "truncated.jpg"): Promise<Uint8Array<ArrayBuffer>> {
  const noise = crypto.getRandomValues(new Uint8Array(12_000));
  return new Uint8Array([...(await bytesOf(name)), ...noise]);
}

/**
 * Returns a video of `bytes` bytes, padded with a `free` box (ISO 14496-12) of random bytes. The
 * default video is truncated, so that its ingest soon fails.
 */
export async function createPaddedVideo(
  bytes: number,
  name = "truncated.mp4",
): Promise<Uint8Array<ArrayBuffer>> {
  const video = await bytesOf(name);
  const padded = new Uint8Array(bytes);
  padded.set(video);
  const box = new DataView(padded.buffer, video.length);
  box.setUint32(0, bytes - video.length);
  padded.set(new TextEncoder().encode("free"), video.length + 4);
  for (let start = video.length + 8; start < bytes; start += 65_536) {
    crypto.getRandomValues(padded.subarray(start, Math.min(bytes, start + 65_536)));
  }
  return padded;
}

/** Returns a body that sends chunks and then fails. */
function disconnectAfter(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  const source: UnderlyingSource<Uint8Array> = {
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.error(new Error("connection lost"));
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 }); // an error would drop queued chunks
}
