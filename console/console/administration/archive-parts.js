/** Limits of one request: docs/operate.md. Its size stays below that of Cloudflare's plans. */
const MAX_LINES = 2000;
const MAX_CHARACTERS = 30_000_000;

/** Yields the lines of a stream of text, without empty ones. */
export async function* readLines(stream) {
  let rest = "";
  for await (const text of stream) {
    const lines = text.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop();
    yield* lines.filter((line) => line.trim() !== "");
  }
  if (rest.trim() !== "") yield rest;
}

/** Groups the lines of an archive into requests. A line above the limit is a request of its own. */
export async function* archiveParts(
  lines,
  { maxLines = MAX_LINES, maxCharacters = MAX_CHARACTERS } = {},
) {
  let part = [];
  let size = 0;
  for await (const line of lines) {
    const isFull = part.length === maxLines || size + line.length > maxCharacters;
    if (part.length > 0 && isFull) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(line);
    size += line.length;
  }
  if (part.length > 0) yield part;
}

/**
 * Joins the responses of an export to one archive: the index first, each asset, and one end. `read`
 * returns the lines after an asset's id; a response without an end has more behind its last asset.
 */
export async function* exportLines(read) {
  let assets = 0;
  for (let after = ""; ;) {
    let last = null;
    for await (const line of read(after)) {
      const { kind, record } = JSON.parse(line);
      if (kind === "end") {
        yield JSON.stringify({ kind, assets });
        return;
      }
      if (kind === "index" && after !== "") continue;
      if (kind === "asset") {
        last = record.asset_id;
        assets += 1;
      }
      yield line;
    }
    if (last === null) throw new Error("The archive was cut off. Try again.");
    after = last;
  }
}
