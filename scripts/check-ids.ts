/**
 * Checks that text from a request becomes an id only by a lookup that takes its owner's id. The
 * types in `src/ids.ts` enforce most of this; the exceptions below are what the compiler can't say.
 */

/** Declarations of `src/store/` that take text for an id, and what limits the lookup. */
const LOOKUPS: Record<string, string> = {
  "index-database/asset-scope.ts AssetScope": "narrows an index",
  "d1/assets.ts listAssetsByIds": "by index",
  "d1/assets.ts listUnknownAssets": "by index",
  "d1/assets.ts requireAsset": "by index",
  "d1/jobs.ts requireJob": "by account",
  "d1/keys.ts revokeKey": "by account",
  "health.ts reindexFullText": "by index",
  "index-database/index-database.ts SegmentQuery": "by index, in its scope",
  "sql.ts whereMissing": "by the query that the caller gives",
  "index-database/segments.ts listSegmentsById": "by asset",
  "index-database/segments.ts listSegmentIds": "by index",
  "index-database/segments.ts listKnownSegments": "by index",
  "d1/sources.ts deleteSource": "by index",
  "d1/watches.ts requireWatch": "by index",
  "d1/uploads.ts getUpload": "by index",
  "d1/uploads.ts selectUpload": "by index",
  "vectorize/vectors.ts toSegmentId": "no lookup: parses the id of a vector",
};

/** Lookups of ids that come from rows. The others check ids of requests by `isIdText` first. */
const FROM_ROWS = new Set([
  "index-database/asset-scope.ts AssetScope",
  "health.ts reindexFullText",
  "index-database/index-database.ts SegmentQuery",
  "index-database/segments.ts listSegmentsById",
  "sql.ts whereMissing",
  "d1/uploads.ts selectUpload",
  "vectorize/vectors.ts toSegmentId",
]);

/** Ids that platforms and R2 assign. */
const FOREIGN = new Set(["platformId", "storageId"]);

/** Files that may mark text as an id of ours, and why the text can be trusted. */
const TRUSTED: Record<string, string> = {
  "src/ids.ts": "creates new ids",
  "src/keys.ts": "reads ids from tokens that we signed",
  "src/messages.ts": "reads ids from messages that we sent",
  "src/signed-token.ts": "reads ids from tokens that we signed",
  "src/store/r2/object-keys.ts": "reads ids from the keys of objects that we wrote",
  "src/store/vectorize/vectors.ts": "reads ids that we stored with the vectors",
};

/** Bindings whose objects are named by an index's id, and the only way to get one. */
const OBJECTS = [
  ["MEDIA_INDEX", "indexObject", "src/store/index-object.ts"],
  ["INDEX_DATABASE", "indexDatabase", "src/store/index-database/index-database.ts"],
] as const;

const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/;
const BARE = /\b(\w+Ids?|ids?)\??: (?:readonly )?string\b/g;
const KIND = "(?:Account|Any|Asset|Index|Job|Key|Segment|Source|Upload|Vector)Id";
const CAST = new RegExp(`\\bas ${KIND}\\b|\\b(?:custom|brand)<${KIND}>`);

/** Returns a sentence for each use of text as an id without an exception, and each unused one. */
export function findLooseIds(files: Iterable<readonly [file: string, text: string]>): string[] {
  const problems = new Set<string>();
  const unused = new Set([...Object.keys(LOOKUPS), ...Object.keys(TRUSTED)]);
  for (const [file, text] of files) {
    if (/\btrustedId[<(]/.test(text) && !unused.delete(file)) {
      problems.add(`${file} marks text as an id: look the id up, or read it from a row`);
    }
    if (CAST.test(text) && file !== "src/ids.ts") problems.add(`${file} casts text to an id`);
    for (const [binding, accessor, owner] of OBJECTS) {
      if (!text.includes(`${binding}.getByName`) || file === owner) continue;
      problems.add(`${file} gets an object of an index by text: use ${accessor}`);
    }
    if (!file.startsWith("src/store/")) continue;
    for (const declaration of uncheckedLookups(file.slice("src/store/".length), text)) {
      problems.add(`${declaration} looks up text: check it by isIdText first`);
    }
    for (const declaration of textIdDeclarations(file.slice("src/store/".length), text)) {
      if (declaration in LOOKUPS) unused.delete(declaration);
      else problems.add(`${declaration} takes a string for an id: give it the type in src/ids.ts`);
    }
  }
  for (const entry of unused) problems.add(`scripts/check-ids.ts: ${entry} is not needed`);
  return [...problems];
}

/** Names the lookups of a file that don't check the text of an id. */
function uncheckedLookups(file: string, text: string): string[] {
  let name = "";
  const bodies = new Map<string, string>();
  for (const line of text.split("\n")) {
    name = DECLARATION.exec(line)?.[1] ?? name;
    bodies.set(name, `${bodies.get(name) ?? ""}${line}\n`);
  }
  return [...bodies]
    .filter(([, body]) => !body.includes("isIdText("))
    .map(([declared]) => `${file} ${declared}`)
    .filter((declaration) => declaration in LOOKUPS && !FROM_ROWS.has(declaration));
}

/** Names the declaration of each parameter or field that is an id typed as `string`. */
function textIdDeclarations(file: string, text: string): string[] {
  let name = "";
  return text.split("\n").flatMap((line) => {
    name = DECLARATION.exec(line)?.[1] ?? name;
    const ids = [...line.matchAll(BARE)].filter(([, id]) => !FOREIGN.has(id!));
    return ids.map(() => `${file} ${name}`);
  });
}
