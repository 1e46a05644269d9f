import { dateTime } from "../shared/wording.js";

const DAY_MS = 24 * 3600 * 1000;

/** Says in words whether an API key is valid at the time `now` (ms). */
export function keyState({ revoked_at: revoked, expires_at: expires }, now) {
  if (revoked) return { isValid: false, text: `Revoked on ${dateTime(revoked)}` };
  if (!expires) return { isValid: true, text: "Valid without an end" };
  return Date.parse(expires) > now
    ? { isValid: true, text: `Valid until ${dateTime(expires)}` }
    : { isValid: false, text: `Expired on ${dateTime(expires)}` };
}

/** Returns the fields of a request for a new key. Without days, it ends with the key that makes it. */
export function newKeyFields({ name, scopes, days }, now) {
  const expires = days === "" ? {} : { expires_at: new Date(now + days * DAY_MS).toISOString() };
  return { name: name.trim(), scopes, ...expires };
}
