import type { Key } from "sightline";
import { sanitizeLine } from "../tools/terminal.ts";

/** Writes one line: id, scopes, dates and state, and name. */
export function describeKey(key: Key): string {
  const details = [
    `made ${formatMinute(key.created_at)}`,
    key.last_used_at === null ? "never used" : `used ${formatMinute(key.last_used_at)}`,
    key.expires_at !== null && `ends ${formatMinute(key.expires_at)}`,
    key.revoked_at !== null && `revoked ${formatMinute(key.revoked_at)}`,
    key.kid !== null && `signed with ${sanitizeLine(key.kid)}`,
    key.is_current && "this key",
  ];
  const name = key.name === null ? "" : `  ${sanitizeLine(key.name)}`;
  return `${sanitizeLine(key.key_id)}  ${sanitizeLine(key.scopes.join(","))}  ${details.filter(Boolean).join(", ")}${name}`;
}

function formatMinute(time: string): string {
  return `${sanitizeLine(time).slice(0, 16).replace("T", " ")}Z`;
}
