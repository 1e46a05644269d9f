const PUBLIC_URL = "https://api.cloudflare.com/client/v4";
const REQUEST_MS = 60_000;

/** Permissions of a token, by the path that needs them. */
const PERMISSIONS: readonly (readonly [path: string, permission: string])[] = [
  ["d1/", "D1: Edit"],
  ["r2/", "Workers R2 Storage: Edit"],
  ["vectorize/", "Vectorize: Edit"],
  ["queues", "Queues: Edit"],
  ["workers/", "Workers Scripts: Edit"],
  ["ai/", "Workers AI: Read"],
];
const UNKNOWN_ROUTE = 7003;
/** A limit in `wrangler.toml` that Workers Free doesn't have. */
const FREE_PLAN = /\b100328\b|\b(?:free|paid) plan\b/i;

interface Envelope {
  success: boolean;
  result: unknown;
  errors?: { code: number; message: string }[];
  result_info?: { page?: number; per_page?: number; total_count?: number; cursor?: string };
}

/** A request that Cloudflare refused. The message is a sentence for the operator. */
export class CloudflareError extends Error {
  readonly status: number;
  readonly codes: readonly number[];

  constructor(message: string, status: number, codes: readonly number[]) {
    super(message);
    this.status = status;
    this.codes = codes;
  }
}

/** Calls Cloudflare's REST API for one account. Paths start below `/accounts/ID/`. */
export class CloudflareApi {
  readonly accountId: string;
  readonly #token: string;
  readonly #url: string;

  constructor(accountId: string, token: string, url: string) {
    this.accountId = accountId;
    this.#token = token;
    this.#url = url.replace(/\/$/, "");
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#request("GET", path)).result as T;
  }

  /** Returns null if Cloudflare responds with 404, which it also does for an unknown account. */
  async find<T>(path: string): Promise<T | null> {
    try {
      return await this.get<T>(path);
    } catch (error) {
      const isMissing = error instanceof CloudflareError && error.status === 404;
      if (isMissing && !error.codes.includes(UNKNOWN_ROUTE)) return null;
      throw error;
    }
  }

  /** Reads all pages of a list, which are numbered or have a cursor. */
  async list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let query = "?page=1";
    for (let page = 1; ; page++) {
      const { result, result_info: info } = await this.#request("GET", `${path}${query}`);
      items.push(...(result as T[]));
      const { per_page: perPage = 0, total_count: total = 0, cursor } = info ?? {};
      if (cursor) query = `?cursor=${encodeURIComponent(cursor)}`;
      else if (page * perPage < total) query = `?page=${page + 1}`;
      else return items;
    }
  }

  async post<T>(path: string, body: object): Promise<T> {
    return (await this.#request("POST", path, body)).result as T;
  }

  async put<T>(path: string, body: object): Promise<T> {
    return (await this.#request("PUT", path, body)).result as T;
  }

  /** Deletes what is there. */
  async delete(path: string): Promise<void> {
    try {
      await this.#request("DELETE", path);
    } catch (error) {
      if (!(error instanceof CloudflareError && error.status === 404)) throw error;
    }
  }

  async #request(method: string, path: string, body?: object): Promise<Envelope> {
    const { status, envelope } = await this.#fetch(
      method,
      `accounts/${this.accountId}/${path}`,
      body,
    );
    if (envelope.success) return envelope;
    const errors = envelope.errors ?? [];
    const codes = errors.map(({ code }) => code);
    const reason = errors.map(({ code, message }) => `${message} (${code})`).join(" ");
    const refusal = `Cloudflare refused ${method} ${path}: ${reason || `HTTP ${status}`}`;
    const explanation =
      explainPlan(refusal, this.accountId) ?? (await this.#explain(status, codes, path));
    throw new CloudflareError(
      explanation === null ? refusal : `${explanation}\n${refusal}`,
      status,
      codes,
    );
  }

  /** Returns the reason of a refusal that concerns the token or the account; else null. */
  async #explain(status: number, codes: number[], path: string): Promise<string | null> {
    if (codes.includes(UNKNOWN_ROUTE)) {
      return `Cloudflare has no account ${this.accountId}. Check CLOUDFLARE_ACCOUNT_ID.`;
    }
    if (status !== 401 && status !== 403) return null;
    if (!(await this.#isTokenValid())) {
      return "Cloudflare refused CLOUDFLARE_API_TOKEN: it is wrong, expired or disabled.";
    }
    const permission = PERMISSIONS.find(([prefix]) => path.startsWith(prefix))?.[1];
    return `The token lacks the permission "${permission}" for the account ${this.accountId}.`;
  }

  /** Asks for the state of the token, which belongs to a user or to the account. */
  async #isTokenValid(): Promise<boolean> {
    for (const owner of ["user", `accounts/${this.accountId}`]) {
      const { envelope } = await this.#fetch("GET", `${owner}/tokens/verify`);
      if (envelope.success) return (envelope.result as { status: string }).status === "active";
    }
    return false;
  }

  async #fetch(method: string, path: string, body?: object) {
    const isForm = body instanceof FormData;
    let response: Response;
    try {
      response = await fetch(`${this.#url}/${path}`, {
        method,
        redirect: "error",
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body && !isForm && { "content-type": "application/json" }),
        },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      throw new Error(`Cloudflare's API can't be reached at ${this.#url}: ${String(cause)}`, {
        cause: error,
      });
    }
    const text = await response.text();
    return { status: response.status, envelope: parseEnvelope(text) };
  }
}

/** Returns what to do about a refusal that names the account's plan; null for any other. */
export function explainPlan(refusal: string, accountId: string): string | null {
  if (!FREE_PLAN.test(refusal)) return null;
  return (
    "The account is on the Workers Free plan, and Sightline needs Workers Paid: $5 a month, which " +
    "includes 10 million requests, 30 million ms of processor time, 25 billion rows read and 50 " +
    "million written, 50 million queried vector dimensions and 10,000 neurons a day " +
    "(docs/costs.md). Change it, and run the same command again: " +
    `https://dash.cloudflare.com/${accountId}/workers/plans`
  );
}

function parseEnvelope(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return { success: false, result: null };
  }
}

/**
 * Opens the API with the credentials of the environment. `knownAccountId` is the account in the
 * file of a deployment, which stays in that account.
 */
export function openCloudflare(knownAccountId: string | undefined): CloudflareApi {
  const token = process.env["CLOUDFLARE_API_TOKEN"];
  const accountId = process.env["CLOUDFLARE_ACCOUNT_ID"] || knownAccountId;
  if (!token)
    throw new Error("CLOUDFLARE_API_TOKEN is not set: docs/deploy.md says how to make one.");
  if (!accountId)
    throw new Error("CLOUDFLARE_ACCOUNT_ID is not set: it is in the dashboard's URL.");
  if (knownAccountId !== undefined && accountId !== knownAccountId) {
    throw new Error(
      `CLOUDFLARE_ACCOUNT_ID is ${accountId}, but this environment is in ${knownAccountId}. ` +
        "Choose another name for another account.",
    );
  }
  return new CloudflareApi(accountId, token, process.env["CLOUDFLARE_API_BASE_URL"] || PUBLIC_URL);
}
