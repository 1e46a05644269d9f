import { env, exports } from "cloudflare:workers";
import { inject } from "vitest";
import { accountId, newId } from "../../src/ids.ts";
import { type Scope, signKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";
import { requireContract } from "./contract.ts";
import { waitUntil } from "./wait.ts";

const ORIGIN = "https://sightline.test";

// oxlint-disable-next-line typescript/no-explicit-any -- every response is validated by its schema
export type Json = any;

export interface Call {
  json?: unknown;
  form?: Record<string, string | Blob>;
  body?: BodyInit;
  headers?: Record<string, string>;
}

export type Issue = [loc: (string | number)[], type: string];

/** HTTP client of one account. Every response is validated against the OpenAPI document. */
export class Client {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }

  async send(method: string, path: string, call: Call = {}): Promise<Response> {
    const headers = new Headers({ "x-api-key": this.key, ...call.headers });
    if (this.key === "") headers.delete("x-api-key");
    let body = call.body;
    if (call.json !== undefined) {
      headers.set("content-type", "application/json");
      body = JSON.stringify(call.json);
    } else if (call.form) {
      const form = new FormData();
      for (const [name, value] of Object.entries(call.form)) form.append(name, value);
      body = form;
    }
    const url = new URL(path, ORIGIN);
    const request = new Request(url, { method, headers, ...(body !== undefined && { body }) });
    const response = await exports.default.fetch(request);
    await requireContract(method, url.pathname, response);
    return response;
  }

  /** Returns the body of a 200 response. Throws for any other status. */
  async json(method: string, path: string, call: Call = {}): Promise<Json> {
    const response = await this.send(method, path, call);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path} → ${response.status} ${text}`);
    return JSON.parse(text);
  }

  /** Returns the issues of a 422 response. Throws for any other status. */
  async issues(method: string, path: string, call: Call = {}): Promise<Issue[]> {
    const response = await this.send(method, path, call);
    const { detail }: Json = await response.json();
    if (response.status !== 422)
      throw new Error(`${method} ${path} → ${response.status} ${detail}`);
    return detail.map(({ loc, type }: Json) => [loc, type]);
  }

  /** Waits until an asset is ready or failed, and returns its record. */
  async waitForAsset(
    index: string,
    asset: { asset_type: string; asset_id: string },
  ): Promise<Json> {
    const path = `/index/${index}/${asset.asset_type}/${asset.asset_id}`;
    return this.#waitForEnd("assets", asset.asset_id, path, ["ready", "failed"]);
  }

  /** Waits until a job has ended, and returns its record. */
  async waitForJob(jobId: string): Promise<Json> {
    return this.#waitForEnd("jobs", jobId, `/jobs/${jobId}`, ["succeeded", "failed", "cancelled"]);
  }

  /** Waits for the stored state, which is cheaper to read than the record. */
  async #waitForEnd(table: "assets" | "jobs", id: string, path: string, ends: string[]) {
    const column = table === "assets" ? "asset_id" : "job_id";
    const stored = env.DB.prepare(`SELECT state FROM ${table} WHERE ${column} = ?`).bind(id);
    return waitUntil(async () => {
      const state = await stored.first<string>("state");
      if (state !== null && !ends.includes(state)) return null;
      const record = await this.json("GET", path);
      return ends.includes(record.state) && record;
    });
  }
}

let accounts = 0;

/** Returns a client of a new account. */
export async function newClient(scopes: Scope[] = ["read", "write", "admin"]): Promise<Client> {
  return clientOf(`${crypto.randomUUID()}-${accounts++}`, scopes);
}

export async function clientOf(
  accountName: string,
  scopes: Scope[],
  expiresAt: number | null = null,
): Promise<Client> {
  const claims = {
    keyId: newId("key"),
    accountId: await accountId(accountName),
    accountName,
    scopes,
    expiresAt,
  };
  return new Client(await signKey(parseSecrets(env.KEY_SECRETS), claims));
}

/** Returns a generated fixture by its name in `test/setup/videos.ts`. */
export async function fixture(name: string): Promise<File> {
  const response = await fetch(`${inject("filesOrigin")}/${name}`);
  if (!response.ok) throw new Error(`There is no fixture ${name}`);
  return new File([await response.arrayBuffer()], name);
}

/** Returns a fixture with random bytes behind it: equal bytes would be a duplicate. */
export async function uniqueFixture(name: string): Promise<File> {
  return new File([await fixture(name), crypto.getRandomValues(new Uint8Array(16))], name);
}

export function fixtureUrl(name: string): string {
  return `${inject("filesOrigin")}/${name}`;
}
