import type { Api } from "./demo/api-client.ts";
import { plain } from "./demo/terminal.ts";

/** What this command reads of a key's record: docs/accounts.md. */
export interface KeyRecord {
  key_id: string;
  name: string | null;
  scopes: string[];
  is_own: boolean;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  signed_with: string | null;
}

/** All keys of the account, the oldest first. */
export async function* listKeys(api: Api): AsyncGenerator<KeyRecord> {
  for (let cursor: string | null = ""; cursor !== null;) {
    const path: string = `/keys?limit=100${cursor && `&cursor=${cursor}`}`;
    const page = await api.get<{ keys: KeyRecord[]; next_cursor: string | null }>(path);
    yield* page.keys;
    cursor = page.next_cursor;
  }
}

export function revokeKey(api: Api, keyId: string): Promise<KeyRecord> {
  return api.delete(`/keys/${encodeURIComponent(keyId)}`);
}

/** One line: id, scopes, what matters of its life, and its name. */
export function describeKey(key: KeyRecord): string {
  const life = [
    `made ${minute(key.created_at)}`,
    key.last_used_at === null ? "never used" : `used ${minute(key.last_used_at)}`,
    key.expires_at !== null && `ends ${minute(key.expires_at)}`,
    key.revoked_at !== null && `revoked ${minute(key.revoked_at)}`,
    key.signed_with !== null && `signed with ${plain(key.signed_with)}`,
    key.is_own && "this key",
  ];
  const name = key.name === null ? "" : `  ${plain(key.name)}`;
  return `${key.key_id}  ${key.scopes.join(",")}  ${life.filter(Boolean).join(", ")}${name}`;
}

function minute(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")}Z`;
}
