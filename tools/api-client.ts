import type { StreamedForm } from "./multipart-stream.ts";

/**
 * Error of an asset or a warning. The record types list only fields that this project's commands
 * read.
 */
export interface ApiFailure {
  code: string;
  message: string;
}

export interface AssetRecord {
  asset_id: string;
  asset_type: "video" | "image";
  title: string;
  state: string;
  progress: number;
  error: ApiFailure | null;
  warnings: ApiFailure[];
  duration_seconds: number | null;
  segments: number;
}

export interface AddedAsset extends AssetRecord {
  duplicate: boolean;
}

export interface SegmentRecord {
  asset_id: string;
  title: string;
  start_seconds: number | null;
  end_seconds: number | null;
  caption: string;
  transcript: string;
  on_screen_text: string;
  labels: string[];
  clip_url: string;
}

export interface HitRecord extends SegmentRecord {
  score: number;
  evidence: { kind: string; score: number; text?: string }[];
  signals: Partial<Record<string, number>>;
}

export interface AnswerBody {
  answer: string;
  grounded: boolean;
  citations: (SegmentRecord & { marker: number })[];
  related: HitRecord[];
  model: string;
}

/** Error status of the service, with its own message. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

export interface Api {
  get<T>(path: string): Promise<T>;
  /** Sends a JSON body. */
  post<T>(path: string, body: Record<string, unknown>): Promise<T>;
  upload<T>(path: string, form: StreamedForm): Promise<T>;
  delete<T>(path: string): Promise<T>;
}

/**
 * Opens a client of the service at `url` (no slash at the end), with an API key, until `signal`
 * aborts.
 */
export function openApi(url: string, key: string, signal: AbortSignal): Api {
  async function send<T>(path: string, init: Pick<RequestInit, "method" | "body">, type?: string) {
    const headers = { "X-API-Key": key, ...(type && { "Content-Type": type }) };
    // Without a window and redirects, fetch keeps no copy of a body that it might send again.
    const streaming = { duplex: "half", window: null, redirect: "error" } as const;
    const options = { ...init, ...streaming, headers, signal };
    const response = await fetch(url + path, options).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new Error(`The service at ${url} does not answer. ${reasonOf(cause)}`, { cause });
    });
    if (!response.ok) throw new ApiError(response.status, await readDetail(response));
    const value: T = JSON.parse(await response.text());
    return value;
  }
  return {
    get: (path) => send(path, {}),
    post(path, body) {
      return send(path, { method: "POST", body: JSON.stringify(body) }, "application/json");
    },
    upload: (path, { body, contentType }) => send(path, { method: "POST", body }, contentType),
    delete: (path) => send(path, { method: "DELETE" }),
  };
}

/** Returns the message of the deepest cause: Node puts the reason of a failed connection there. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

/** Reads `detail`: a sentence, or a list with a sentence for each invalid field. */
async function readDetail(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { detail }: { detail: string | { loc: unknown[]; msg: string }[] } = JSON.parse(text);
    if (typeof detail === "string") return detail;
    return detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  } catch {
    return `The service answered with status ${response.status}.`;
  }
}
