import type { StreamedForm } from "./streamed-form.ts";

/** What this project's own commands read of the API's records. */
export interface Failure {
  code: string;
  message: string;
}

export interface AssetRecord {
  asset_id: string;
  asset_type: "video" | "image";
  title: string;
  state: string;
  progress: number;
  error: Failure | null;
  warnings: Failure[];
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

export interface AnswerRecord {
  answer: string;
  grounded: boolean;
  citations: (SegmentRecord & { marker: number })[];
}

/** The service answered with an error status. The message is its own. */
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
  /** Sends JSON. */
  post<T>(path: string, body: Record<string, unknown>): Promise<T>;
  upload<T>(path: string, form: StreamedForm): Promise<T>;
  delete<T>(path: string): Promise<T>;
}

/** The service at `url` (no slash at its end), asked with `key` until `signal` aborts. */
export function openApi(url: string, key: string, signal: AbortSignal): Api {
  async function ask<T>(path: string, init: Pick<RequestInit, "method" | "body">, type?: string) {
    const headers = { "X-API-Key": key, ...(type && { "Content-Type": type }) };
    // Without a window and redirects, fetch keeps no copy of a body that it might send again.
    const once = { duplex: "half", window: null, redirect: "error" } as const;
    const sent = { ...init, ...once, headers, signal };
    const response = await fetch(url + path, sent).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new Error(`The service at ${url} does not answer. ${reasonOf(cause)}`, { cause });
    });
    if (!response.ok) throw new ApiError(response.status, await readDetail(response));
    const value: T = JSON.parse(await response.text());
    return value;
  }
  return {
    get: (path) => ask(path, {}),
    post(path, body) {
      return ask(path, { method: "POST", body: JSON.stringify(body) }, "application/json");
    },
    upload: (path, { body, contentType }) => ask(path, { method: "POST", body }, contentType),
    delete: (path) => ask(path, { method: "DELETE" }),
  };
}

/** Node hides why a connection failed in the cause of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

/** `detail` is a sentence, or a list with a sentence for each broken rule. */
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
