import { apiPath } from "../shared/api-path.js";
import { api, storedKey } from "../shared/api.js";

/** The scopes of the key that was asked for last: a promise, with the key. */
let asked = null;

/**
 * Resolves to whether the stored API key has a scope. True if that can't be read: then the service
 * says what the key lacks.
 */
export async function hasScope(scope) {
  const key = storedKey();
  if (asked?.key !== key) asked = { key, account: api("POST", apiPath(["init"])) };
  try {
    return (await asked.account).scopes.includes(scope);
  } catch {
    asked = null;
    return true;
  }
}
