import { SEARCH } from "../config.ts";
import { AppError, causeOf } from "../errors.ts";
import { log } from "../log.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { Recent } from "../models/recent.ts";
import type { SignatureHit } from "../store/signatures.ts";
import type { VectorHit } from "../store/vectors.ts";
import { searchWords } from "../store/words.ts";
import { type Evidence, evidenceOfVector, evidenceOfWords } from "./evidence.ts";
import type { Likeness } from "./likeness.ts";
import { groupAssets, nearest } from "./nearest.ts";
import { type ParsedQuery, wantedBy } from "./query.ts";
import type { Scope } from "./request.ts";

/** One way of searching: what it found, the best first, why, and how much its word counts. */
export interface Channel {
  found: { segmentId: string; evidence: Evidence[] }[];
  weight: number;
}

/** What is looked for: words, something to be like, or both. */
export interface Question {
  query: ParsedQuery | null;
  like: Likeness | null;
}

/**
 * Asks every channel that has something to say about the question, at the same time, for at least
 * `count` segments each. One whose model is out is silent.
 */
export function askChannels(
  env: Env,
  scope: Scope,
  question: Question,
  count: number,
): Promise<Channel[]> {
  const { query, like } = question;
  const groups = groupAssets(env.DB, scope.assets);
  const isJoint = scope.looks && hasPictureSpace(env);
  const weights = SEARCH.weights[isJoint ? "joint" : "textOnly"];
  const near = async (space: "TEXT_VECTORS" | "PICTURE_VECTORS", vector: number[]) => {
    const kinds = space === "TEXT_VECTORS" ? scope.vectors : (["picture"] as const);
    const hits = await nearest(env[space], scope.assets, await groups, [...kinds], vector, count);
    return hits.map(toFound);
  };

  const channels: Promise<Channel>[] = [];
  const ask = (weight: number, found: Promise<Channel["found"]>) =>
    channels.push(found.then((some) => ({ found: some, weight })));
  if (query) {
    ask(weights.word, findWords(env.DB, scope, query, count));
    const meaning = orNone("meaning", async () => {
      const vector = await meanings.get(query.plain, async () => {
        return (await embedText(env.AI, [query.plain]))[0]!;
      });
      return near("TEXT_VECTORS", vector);
    });
    ask(weights.meaning, meaning);
  }
  if (like?.same) ask(SEARCH.sameWeight, Promise.resolve(like.same.map(toSame)));
  if (like?.meaning) ask(weights.meaning, near("TEXT_VECTORS", like.meaning));
  if (isJoint && (query || like?.looks)) {
    const likely = orNone("looks", async () => {
      const said = query && (await lookOf(env, query.plain));
      return near("PICTURE_VECTORS", mix([said, like?.looks ?? null]));
    });
    ask(weights.looks, likely);
  }
  return Promise.all(channels);
}

/** Queries come again: while someone types, on the next page, from the next person. */
const meanings = new Recent<number[]>(SEARCH.keptQueries);
const looks = new Recent<number[]>(SEARCH.keptQueries);

function lookOf(env: Env, text: string): Promise<number[]> {
  const space = `${env.PICTURE_EMBEDDINGS_URL} ${env.PICTURE_EMBEDDINGS_MODEL}`;
  return looks.get(`${space} ${text}`, async () => {
    return (await embedInPictureSpace(env, [{ text }])).vectors[0]!;
  });
}

/** The direction between vectors: "this, but at night". */
export function mix(vectors: (number[] | null)[]): number[] {
  const units = vectors.flatMap((vector) => {
    const length = vector && Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector && length ? [vector.map((value) => value / length)] : [];
  });
  const [first = [], ...rest] = units;
  return first.map((value, i) => rest.reduce((sum, unit) => sum + unit[i]!, value));
}

async function findWords(
  db: D1Database,
  { assets, columns }: Scope,
  query: ParsedQuery,
  limit: number,
): Promise<Channel["found"]> {
  const expression = wantedBy(query);
  if (expression === null) return [];
  const hits = await searchWords(db, { scope: assets, expression, columns, limit });
  return hits.map((hit) => {
    return { segmentId: hit.segmentId, evidence: evidenceOfWords(hit, query.words.length) };
  });
}

function toFound(hit: VectorHit): Channel["found"][number] {
  return { segmentId: hit.segmentId, evidence: [evidenceOfVector(hit)] };
}

function toSame({ segmentId, similarity }: SignatureHit): Channel["found"][number] {
  return { segmentId, evidence: [{ kind: "visual", score: similarity }] };
}

/** Nothing in a model's outage: then the other channels must do. */
async function orNone(
  channel: string,
  ask: () => Promise<Channel["found"]>,
): Promise<Channel["found"]> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.without_channel", { channel, code: error.code, cause: causeOf(error) });
    return [];
  }
}
