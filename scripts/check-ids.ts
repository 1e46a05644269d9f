/**
 * Ids are typed (`src/ids.ts`), so that what names something of an account can't come from a
 * request but by way of a look-up that its owner's id is needed for. What the compiler can't say is
 * here: who may take text.
 */

/**
 * Declarations of `src/store/` that take text for an id, and what finds nothing of another's by it.
 */
const LOOKUPS: Record<string, string> = {
  "asset-scope.ts AssetScope": "narrows an index",
  "assets.ts listUnknownAssets": "by index",
  "assets.ts requireAsset": "by index",
  "jobs.ts requireJob": "by account",
  "keys.ts revokeKey": "by account",
  "orphans.ts listMissingAssets": "by index",
  "orphans.ts listUnknownSegments": "by index",
  "sql.ts listMissing": "by index",
  "segments.ts listSegmentsById": "by asset",
  "scoped-segments.ts listSegmentsInScope": "by index, in its scope",
  "segments.ts listSegmentIds": "by index",
  "sources.ts deleteSource": "by index",
  "uploads.ts getUpload": "by index",
  "uploads.ts selectUpload": "by index",
  "vectors.ts toSegmentId": "finds nothing: it only reads a vector's id",
};

/** Ids of others' things: a platform's, R2's. */
const FOREIGN = new Set(["platformId", "storageId"]);

/** Who may say that text is an id of ours: `src/ids.ts` makes them. */
const MAKERS: Record<string, string> = {
  "src/ids.ts": "makes new ones",
  "src/keys.ts": "we signed them",
  "src/messages.ts": "we sent them",
  "src/store/vectors.ts": "we wrote them beside the vectors",
};

const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/;
const BARE = /\b(\w+Ids?|ids?)\??: (?:readonly )?string\b/g;
const KIND = "(?:Account|Any|Asset|Index|Job|Key|Segment|Source|Upload|Vector)Id";
const CAST = new RegExp(`\\bas ${KIND}\\b|\\b(?:custom|brand)<${KIND}>`);

/**
 * Where text becomes an id, or is taken for one, without leave; and leave that nobody needs any
 * more.
 */
export function findLooseIds(files: Iterable<readonly [file: string, text: string]>): string[] {
  const problems = new Set<string>();
  const unused = new Set([...Object.keys(LOOKUPS), ...Object.keys(MAKERS)]);
  for (const [file, text] of files) {
    if (/\btrustedId[<(]/.test(text) && !unused.delete(file)) {
      problems.add(`${file} takes text for an id: let a look-up find it, or a row hold it`);
    }
    if (CAST.test(text) && file !== "src/ids.ts") problems.add(`${file} casts text to an id`);
    if (text.includes("MEDIA_INDEX.getByName") && file !== "src/store/index-object.ts") {
      problems.add(`${file} gets an index's object by text: use indexObject`);
    }
    if (!file.startsWith("src/store/")) continue;
    for (const place of takers(file.slice("src/store/".length), text)) {
      if (place in LOOKUPS) unused.delete(place);
      else problems.add(`${place} takes a string for an id: give it the type in src/ids.ts`);
    }
  }
  for (const place of unused) problems.add(`scripts/check-ids.ts: ${place} needs no leave`);
  return [...problems];
}

function takers(file: string, text: string): string[] {
  let name = "";
  return text.split("\n").flatMap((line) => {
    name = DECLARATION.exec(line)?.[1] ?? name;
    const own = [...line.matchAll(BARE)].filter(([, id]) => !FOREIGN.has(id!));
    return own.map(() => `${file} ${name}`);
  });
}
