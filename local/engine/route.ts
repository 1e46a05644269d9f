import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

export interface Call {
  request: Readable & Pick<IncomingMessage, "headers">;
  query: URLSearchParams;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
  /** For whom the caller works, as its header `x-account` says: accounts take turns. */
  account: string;
}

interface Bytes {
  bytes: Buffer;
  contentType: string;
  headers?: Record<string, string>;
}

/** A body written in parts; the headers are sent with the first. */
interface Streamed {
  contentType: string;
  stream: (write: (text: string) => void) => Promise<void>;
}

export type Reply = { json: unknown } | Bytes | Streamed;

/** Handlers by "POST /path". */
export type Routes = Readonly<Record<string, (call: Call) => Promise<Reply>>>;
