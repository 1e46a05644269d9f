import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROJECT } from "../../tools/stack/local-state.ts";

const read = (file: string) => readFileSync(join(PROJECT, file), "utf8");
const FILES = globSync("src/**/*.ts", { cwd: PROJECT }).toSorted();

/** Statements with a limit whose order doesn't matter, and why. */
const UNORDERED: Record<string, string> = {
  "SELECT 1 FROM accounts LIMIT 1": "whether there is a row",
  "SELECT 1 FROM vector_pairs WHERE ${takesShards(env)} LIMIT 1": "whether there is a row",
  "SELECT 1 FROM watches WHERE ${mayMatch(asset)} LIMIT 1": "whether there is a row",
  "SELECT 1 FROM segment_fts WHERE segment_fts MATCH ${expression} LIMIT 1":
    "whether there is a row",
  "SELECT 1 FROM segments WHERE ${ofAsset(assetId)} AND position >= ${position} LIMIT 1":
    "whether there is a row",
  "WHERE type <> 'null') LIMIT 1) AS type,": "the type of any value",
  "${unembedded} LIMIT ${limit}": "a job repeats it until no row is left",
  "FROM (${rareMatches} LIMIT ${limit})": "whether there are as many rows",
  "src/store/index-database/find-segments.ts: LIMIT ${limit}`;":
    "the first so many, for one that reads all of a small scope",
  "src/store/index-database/segments.ts: LIMIT ${limit}`,":
    "a deletion repeats it until no row is left",
  "src/store/index-database/signatures.ts: LIMIT ${SIGNATURE.maxHashMatches}":
    "a bound on the work of one search, whose candidates are then ranked",
};

/** Queries of the cron trigger that take no turns, and why nobody waits for another's rows. */
const WITHOUT_TURNS: Record<string, string> = {
  pruneResponses: "rows that are taken are gone, the oldest first",
  pruneJobs: "rows that are taken are gone or due a week later, the oldest first",
  pruneExpiredKeys: "rows that are taken are gone, the oldest first",
};

const LIMIT = /\bLIMIT (?:\?|\$|\d)/g;
const ORDER = /ORDER BY|\$\{(?:raw\()?(?:IN_TURN|BY_TURN_AND_DUE)/;
const TURN = /IN_TURN|BY_TURN_AND_DUE|PARTITION BY/;

/** Returns the text of a statement up to a position in it: from its SELECT, DELETE or start. */
function beginningOf(source: string, at: number): string {
  const start = Math.max(
    ...["SELECT", "`", '"'].map((mark) => source.lastIndexOf(mark, at)),
    source.lastIndexOf("\n\n", at),
  );
  return source.slice(start, at);
}

it("every statement with a LIMIT has an order, or a reason to need none", () => {
  const without: string[] = [];
  let count = 0;
  for (const file of FILES) {
    const source = read(file);
    for (const { index } of source.matchAll(LIMIT)) {
      count++;
      // An expression in the ORDER BY may itself be a template: look at the lines before, too.
      const lines = source.slice(0, index).split("\n").slice(-4).join("\n");
      const end = source.indexOf("\n", index);
      const text = source.slice(source.lastIndexOf("\n", index) + 1, end);
      if (ORDER.test(beginningOf(source, index)) || ORDER.test(lines)) continue;
      if (Object.keys(UNORDERED).some((each) => `${file}: ${text.trim()}`.includes(each))) continue;
      without.push(`${file}: ${text.trim()}`);
    }
  }
  expect(count).toBeGreaterThan(30);
  expect(without).toEqual([]);
});

/** Returns the text of a function, with that of the functions of its file that it calls. */
function bodyOf(source: string, name: string): string {
  const [, body] = new RegExp(`function ${name}\\b([\\s\\S]*?\\n}\\n)`).exec(source) ?? [];
  if (body === undefined) return "";
  const called = [...source.matchAll(/\nasync function (\w+)/g)].map(([, each]) => each!);
  const bodies = called
    .filter((each) => body.includes(` ${each}(`))
    .map((each) => bodyOf(source, each));
  return [body, ...bodies].join("\n");
}

it("every query of the cron trigger with a LIMIT takes accounts in turn, or has a reason", () => {
  const limited: string[] = [];
  const unfair: string[] = [];
  for (const file of ["sweep"]) {
    const imports = read(`src/lifecycle/${file}.ts`).matchAll(
      /import \{([^}]*)\} from "\.\.\/store\/([\w/-]+)\.ts"/g,
    );
    for (const [, names, store] of imports) {
      const source = read(`src/store/${store}.ts`);
      for (const name of names!.split(",").map((each) => each.trim())) {
        const body = bodyOf(source, name);
        if (!/\bLIMIT (?:\?|\$|\d)/.test(body)) continue;
        limited.push(name);
        if (!TURN.test(body) && !(name in WITHOUT_TURNS)) unfair.push(name);
      }
    }
  }
  expect(unfair).toEqual([]);
  expect(limited.toSorted()).toEqual(
    [
      "failExhaustedJobs",
      "listExpiredUploads",
      "listIndicesDue",
      "listReceivedUploads",
      "listSoftDeletedIndices",
      "listUndispatchedAssets",
      "listUnmirroredAssets",
      "listWaitingIndices",
      "pruneExpiredKeys",
      "pruneJobs",
      "pruneResponses",
      "redispatchOverdueJobs",
    ].toSorted(),
  );
});
