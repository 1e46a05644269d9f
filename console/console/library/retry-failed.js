import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

const CONCURRENCY = 4;

/**
 * Retries all failed assets of an index. `onRetried` gets each record. Resolves to the number of
 * those that are in progress now, and the errors of the others.
 */
export async function retryFailed(index, onRetried) {
  const failed = await listFailed(index);
  const errors = [];
  let retried = 0;
  const work = async () => {
    for (let asset = failed.shift(); asset; asset = failed.shift()) {
      try {
        onRetried(await retry(index, asset));
        retried += 1;
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { retried, errors };
}

/** Reads all pages before the first retry, which takes an asset out of the list. */
async function listFailed(index) {
  const failed = [];
  let cursor = "";
  do {
    const query = { state: "failed", limit: 100, ...(cursor && { cursor }) };
    const page = await api("GET", indexPath(index, [], query));
    failed.push(...page.assets);
    cursor = page.next_cursor;
  } while (cursor);
  return failed;
}

async function retry(index, { asset_type: type, asset_id: id }) {
  const path = indexPath(index, [type, id, "retry"]);
  for (;;) {
    try {
      return await api("POST", path);
    } catch (error) {
      // The limit of requests in a minute passes; that of a day doesn't.
      if (error.status !== 429 || !(error.retryAfter <= 60)) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
    }
  }
}
