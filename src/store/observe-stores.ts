import { MODELS } from "../config.ts";
import { observe, type Observed } from "../errors.ts";
import { CHECKED_INDEX } from "../ids.ts";
import { listPairNumbers, vectorPair } from "./vector-pairs.ts";

/** A vector that was written, and how a query found it. */
export interface VectorScore {
  /** Time until a query found it; null if none did. The scores are null then, too. */
  foundAfterMs: number | null;
  /** Cosine of the vector and the query. */
  cosine: number;
  /** Score of an ordinary query, which Vectorize may approximate. */
  score: number | null;
  /** Score of a query that returns the values. */
  exactScore: number | null;
}

/** Less than the time for which a Worker goes on after its client has gone. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;

/**
 * Writes a vector, queries until it is found, and deletes it. The vector belongs to an index that
 * doesn't exist.
 */
export function observeVectors(env: Env): Promise<Observed<VectorScore>> {
  const { text: space } = vectorPair(env, { vectorPair: Math.max(...listPairNumbers(env)) });
  return observe(async () => {
    const id = crypto.randomUUID();
    const namespace = CHECKED_INDEX;
    const { dimensions } = MODELS.embedText;
    const values = Array.from({ length: dimensions }, (_, i) => Math.sin(i));
    const query = values.map((value, i) => value + 0.75 * Math.cos(3 * i));
    const found: VectorScore = {
      foundAfterMs: null,
      cosine: cosine(values, query),
      score: null,
      exactScore: null,
    };
    const scoreOf = async (returnValues: boolean) => {
      const { matches } = await space.query(query, { namespace, topK: 50, returnValues });
      return matches.find((match) => match.id === id)?.score ?? null;
    };
    const writtenAt = Date.now();
    await space.upsert([{ id, namespace, values }]);
    try {
      while (found.score === null && Date.now() - writtenAt < MAX_WAIT_MS) {
        found.score = await scoreOf(false);
        if (found.score === null) await scheduler.wait(POLL_MS);
      }
      if (found.score === null) return found;
      found.foundAfterMs = Date.now() - writtenAt;
      found.exactScore = await scoreOf(true);
      return found;
    } finally {
      await space.deleteByIds([id]);
    }
  });
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

type MakeStatement = (db: D1Database, size: number) => D1PreparedStatement;

/** Statements that reach a limit of D1 with a size. They read no table. */
const STATEMENTS = {
  parameters: (db, size) => {
    const values = Array.from({ length: size }, (_, i) => i);
    return db.prepare(`SELECT ${values.map(() => "?").join(" + ")} AS sum`).bind(...values);
  },
  value_bytes: (db, size) => db.prepare("SELECT length(?) AS length").bind("x".repeat(size)),
  statement_bytes: (db, size) => db.prepare("SELECT 1".padEnd(size)),
} satisfies Record<string, MakeStatement>;

type DatabaseLimit = keyof typeof STATEMENTS;

/** Sizes that D1 is documented to take, and one that it isn't: 101 parameters. */
const SIZES: readonly { limit: DatabaseLimit; size: number }[] = [
  { limit: "parameters", size: 100 },
  { limit: "parameters", size: 101 },
  { limit: "value_bytes", size: 2_000_000 },
  { limit: "statement_bytes", size: 100_000 },
];

/** Runs statements of the largest sizes in D1, one after the other. */
export async function observeDatabase(db: D1Database) {
  const observations = [];
  for (const { limit, size } of SIZES) {
    const { error } = await observe(() => STATEMENTS[limit](db, size).all());
    observations.push({ limit, size, error });
  }
  return observations;
}
