import { namesOf } from "../asset-names.ts";
import { encodeFtsText, FTS_VERSION } from "../store/index-database/fulltext.ts";
import { concat, parseColumns, raw, sql, type SqlFragment } from "../store/sql.ts";
import { guessLanguage, type Language, toLanguage } from "../text/languages.ts";
import { neighbourSentences, speechOf } from "../text/sentences.ts";
import type { Asset } from "../types.ts";
import { exec, readObjects, type Sql } from "./counted-storage.ts";

type SegmentText = Record<"caption" | "transcript" | "text" | "labels", string> &
  Record<"key" | "assetKey", number> &
  Record<"before" | "after", string | null>;

const neighbour = (step: string) => `(SELECT transcript FROM segments AS other
  WHERE other.asset_key = segments.asset_key AND other.position = segments.position ${step})`;
const SEGMENT_TEXT = raw(`SELECT segment_key AS key, asset_key AS assetKey, caption, transcript,
  on_screen_text AS text, labels, ${neighbour("- 1")} AS before, ${neighbour("+ 1")} AS after
  FROM segments`);

/** Assets whose names are written in one transaction. */
const MAX_NAMES = 100;

/**
 * Writes the full-text rows of the segments whose text has changed, in the transaction that changed
 * it.
 */
export function writeFullText(storage: Sql): void {
  for (;;) {
    const changed = readObjects<SegmentText>(storage, sql`${SEGMENT_TEXT} WHERE indexed = 0`);
    if (changed.length === 0) break;
    for (const { key } of writeRows(storage, changed, Number.MAX_SAFE_INTEGER)) {
      exec(storage, sql`UPDATE segments SET indexed = 1 WHERE segment_key = ${key}`);
    }
  }
  writeNames(storage, MAX_NAMES); // last: a language may have been guessed
}

/**
 * Writes the rows of segments. A language that is guessed now outdates the rows of other segments
 * of its asset that are before the key `before`.
 */
function writeRows(storage: Sql, segments: SegmentText[], before: number): SegmentText[] {
  for (const [assetKey, own] of Map.groupBy(segments, (segment) => segment.assetKey)) {
    const language = languageOf(storage, assetKey, own, before);
    for (const segment of own) writeRow(storage, segment, language);
  }
  return segments;
}

/** Characters of speech and on-screen text by which a language is guessed. */
const MIN_CHARACTERS = 20;

function languageOf(
  storage: Sql,
  assetKey: number,
  segments: readonly SegmentText[],
  before: number,
): Language {
  const [asset] = readObjects<{ language: string | null }>(
    storage,
    sql`SELECT language FROM assets WHERE asset_key = ${assetKey}`,
  );
  const texts = segments.flatMap(({ transcript, text }) => [transcript, text]).filter(Boolean);
  const sample = texts.join(" ");
  if (asset!.language !== null || sample.length < MIN_CHARACTERS)
    return toLanguage(asset!.language);
  const language = guessLanguage(sample);
  exec(storage, sql`UPDATE assets SET language = ${language} WHERE asset_key = ${assetKey}`);
  exec(
    storage,
    sql`UPDATE segments SET indexed = 0 WHERE asset_key = ${assetKey} AND segment_key < ${before}
      AND (transcript <> '' OR on_screen_text <> '')`,
  );
  return language;
}

/** Writes the row of a segment, and the sentences beside it. One without text has no row. */
function writeRow(
  storage: Sql,
  { key, caption, transcript, text, labels, before, after }: SegmentText,
  language: Language,
): void {
  const { speechBefore, speechAfter } = neighbourSentences(before ?? "", transcript, after ?? "");
  exec(
    storage,
    sql`UPDATE segments SET speech_before = ${speechBefore}, speech_after = ${speechAfter}
      WHERE segment_key = ${key}`,
  );
  exec(storage, sql`DELETE FROM segment_fts WHERE rowid = ${key}`);
  const label = (JSON.parse(labels) as string[]).join(", ");
  if ([caption, transcript, text, label].every((column) => column === "")) return;
  const values: SqlFragment[] = [
    sql`${encodeFtsText(caption, "en")}`,
    sql`${encodeFtsText(speechOf({ transcript, speechBefore, speechAfter }), language)}`,
    sql`${encodeFtsText(text, language)}`,
    sql`${encodeFtsText(label, "en")}`,
  ];
  exec(
    storage,
    sql`INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
      VALUES (${key}, ${concat(values, ", ")})`,
  );
}

type NamedAsset = Pick<Asset, "title" | "technical"> & { key: number; language: string | null };

/** Writes names of `limit` assets that have new or outdated ones. Returns whether more remain. */
function writeNames(storage: Sql, limit: number): boolean {
  const rows = readObjects<NamedAsset>(
    storage,
    sql`SELECT asset_key AS key, title, technical, language FROM assets
      WHERE named < ${FTS_VERSION} ORDER BY named LIMIT ${limit + 1}`,
  );
  for (const { key, language, ...row } of rows.slice(0, limit)) {
    const { title, description } = namesOf(parseColumns(row, ["technical"]));
    const encode = (text: string) => encodeFtsText(text, toLanguage(language));
    exec(storage, sql`DELETE FROM asset_fts WHERE rowid = ${key}`);
    exec(
      storage,
      sql`INSERT INTO asset_fts (rowid, title, description)
        VALUES (${key}, ${encode(title)}, ${encode(description)})`,
    );
    exec(storage, sql`UPDATE assets SET named = ${FTS_VERSION} WHERE asset_key = ${key}`);
  }
  return rows.length > limit;
}

/** Which version of `encodeFtsText` wrote the full text, and up to which segment. */
interface FullTextState {
  version: number;
  /** Key of the last segment that this version has written; null if all are. */
  writtenTo: number | null;
}

const STATE_KEY = "full_text";

/**
 * Writes the full text of the next `limit` segments again if another version of `encodeFtsText`
 * wrote it, and the names of as many assets that have none yet, in one transaction each. Rows that
 * aren't written yet are found by what they have. Returns whether some are left.
 */
export function rebuildFullText(storage: DurableObjectStorage, limit: number): boolean {
  const stored = storage.kv.get<FullTextState>(STATE_KEY);
  const state = stored?.version === FTS_VERSION ? stored : { version: FTS_VERSION, writtenTo: 0 };
  const { writtenTo } = state;
  const areNamesLeft = storage.transactionSync(() => writeNames(storage.sql, limit));
  if (writtenTo === null) return areNamesLeft;
  return storage.transactionSync(() => {
    const next = readObjects<SegmentText>(
      storage.sql,
      sql`${SEGMENT_TEXT} WHERE segment_key > ${writtenTo} ORDER BY segment_key LIMIT ${limit + 1}`,
    );
    const batch = next.slice(0, limit);
    writeRows(storage.sql, batch, batch[0]?.key ?? 0);
    const isLeft = next.length > limit;
    const lastKey = batch.at(-1)?.key ?? writtenTo;
    storage.kv.put(STATE_KEY, { ...state, writtenTo: isLeft ? lastKey : null });
    return isLeft || areNamesLeft;
  });
}
