import type { Api } from "../tools/api-client.ts";
import { sanitizeLine } from "../tools/terminal.ts";

/** Fields of a key's record that this command reads: docs/accounts.md. */
export interface KeyRecord {
  key_id: string;
  name: string | null;
  scopes: string[];
  is_current: boolean;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  kid: string | null;
}

/** Yields all keys of the account, oldest first. */
export async function* fetchKeys(api: Api): AsyncGenerator<KeyRecord> {
  for (let cursor: string | null = ""; cursor !== null;) {
    const path: string = `/keys?limit=100${cursor && `&cursor=${cursor}`}`;
    const page = await api.get<{ keys: KeyRecord[]; next_cursor: string | null }>(path);
    yield* page.keys;
    cursor = page.next_cursor;
  }
}

export function requestRevocation(api: Api, keyId: string): Promise<KeyRecord> {
  return api.delete(`/keys/${encodeURIComponent(keyId)}`);
}

/** Writes one line: id, scopes, dates and state, and name. */
export function describeKey(key: KeyRecord): string {
  const details = [
    `made ${formatMinute(key.created_at)}`,
    key.last_used_at === null ? "never used" : `used ${formatMinute(key.last_used_at)}`,
    key.expires_at !== null && `ends ${formatMinute(key.expires_at)}`,
    key.revoked_at !== null && `revoked ${formatMinute(key.revoked_at)}`,
    key.kid !== null && `signed with ${sanitizeLine(key.kid)}`,
    key.is_current && "this key",
  ];
  const name = key.name === null ? "" : `  ${sanitizeLine(key.name)}`;
  return `${key.key_id}  ${key.scopes.join(",")}  ${details.filter(Boolean).join(", ")}${name}`;
}

function formatMinute(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")}Z`;
}
