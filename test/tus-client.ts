import { askDeployed } from "./deployed.ts";
import { type Client, fixture, type Json } from "./client.ts";

export const OCTETS = "application/offset+octet-stream";

export const encode = (text: string) => Buffer.from(text).toString("base64");

interface Sent {
  body?: BodyInit;
  headers?: Record<string, string>;
}

/** Speaks tus 1.0 to the uploads of one index. */
export class TusClient {
  readonly client: Client;
  readonly index: string;

  constructor(client: Client, index: string) {
    this.client = client;
    this.index = index;
  }

  get all(): string {
    return `/index/${this.index}/uploads`;
  }

  send(method: string, path: string, { body, headers }: Sent = {}): Promise<Response> {
    return this.client.send(method, path, {
      headers: { "tus-resumable": "1.0.0", ...headers },
      ...(body !== undefined && { body }),
    });
  }

  create(headers: Record<string, string>, body?: BodyInit): Promise<Response> {
    const type = body === undefined ? {} : { "content-type": OCTETS };
    return this.send("POST", this.all, { headers: { ...type, ...headers }, ...(body && { body }) });
  }

  /** The path of a new upload. */
  async begin(length: number, headers: Record<string, string> = {}): Promise<string> {
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
    const own = { "content-type": OCTETS, "upload-offset": String(offset), ...headers };
    return this.send("PATCH", path, { body, headers: own });
  }

  /**
   * Sends `pieces`, and is gone. The Worker is called itself: what is between two Workers would end the body as
   * if that were all of it.
   */
  breakOff(
    path: string,
    offset: number | null,
    pieces: Uint8Array[],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const at = offset === null ? {} : { "upload-offset": String(offset) };
    return askDeployed({}, this.client.key, path, {
      method: offset === null ? "POST" : "PATCH",
      body: breakingOff(pieces),
      headers: { "tus-resumable": "1.0.0", "content-type": OCTETS, ...at, ...headers },
    });
  }

  /** How far it is; the status where there is none. */
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
 * Of other bytes than any other: the same bytes would be the same asset. Most are cut off, so that their ingest
 * soon fails.
 */
export async function newPicture(name = "cut.jpg"): Promise<Uint8Array<ArrayBuffer>> {
  const noise = crypto.getRandomValues(new Uint8Array(12_000));
  return new Uint8Array([...(await bytesOf(name)), ...noise]);
}

/**
 * A film of `bytes` bytes: behind it a box to be skipped (ISO 14496-12, `free`), full of noise. Without a `film`
 * its ingest soon fails.
 */
export async function longFilm(bytes: number, name = "cut.mp4"): Promise<Uint8Array<ArrayBuffer>> {
  const film = await bytesOf(name);
  const whole = new Uint8Array(bytes);
  whole.set(film);
  const box = new DataView(whole.buffer, film.length);
  box.setUint32(0, bytes - film.length);
  whole.set(new TextEncoder().encode("free"), film.length + 4);
  for (let at = film.length + 8; at < bytes; at += 65_536) {
    crypto.getRandomValues(whole.subarray(at, Math.min(bytes, at + 65_536)));
  }
  return whole;
}

/** A body that sends these pieces, and then breaks off. */
function breakingOff(pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  const source: UnderlyingSource<Uint8Array> = {
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(new Error("the line is dead"));
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 }); // an error drops what waits
}
