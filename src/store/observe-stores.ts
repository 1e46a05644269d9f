import { MODELS } from "../config.ts";
import { observe, type Observed } from "../errors.ts";
import { CHECKED_INDEX } from "../ids.ts";
import { listPairNumbers } from "./d1/pair-records.ts";
import { all, concat, raw, sql, type SqlFragment } from "./sql.ts";
import { pairBindings } from "./vectorize/vector-pairs.ts";

/** A vector that was written, and how a query found it. */
export interface VectorScore {
  /** Id of the vector while it waits to be found; null once it was, or won't be. */
  waiting: ObservedVectorId | null;
  /** Time until a query found it; null if none did. The scores are null then, too. */
  foundAfterMs: number | null;
  /** Cosine of the vector and the query. */
  cosine: number;
  /** Score of an ordinary query, which Vectorize may approximate. */
  score: number | null;
  /** Score of a query that returns the values. */
  exactScore: number | null;
}

/** Id of a vector that is observed: when it was written, in epoch ms, and something random. */
export type ObservedVectorId = `observed_${number}_${string}`;

/** Whether a text is the id of an observed vector. */
export function isObservedVectorId(text: string): text is ObservedVectorId {
  return /^observed_\d{13}_[0-9a-f]{8}$/.test(text);
}

/** Time for which a request queries. It is less than a Worker has after its client has gone. */
const MAX_WAIT_MS = 10_000;
/** Time after which a vector isn't found any more: Vectorize takes up to 2 minutes. */
const MAX_AGE_MS = 5 * 60_000;
const POLL_MS = 250;

/**
 * Writes a vector, queries until it is found, and deletes it. A vector that isn't found in time is
 * `waiting`: the next call continues with it. It belongs to an index that doesn't exist.
 */
export function observeVectors(
  env: Env,
  waiting: ObservedVectorId | null,
): Promise<Observed<VectorScore>> {
  const { text: space } = pairBindings(env, Math.max(...listPairNumbers(env)));
  return observe(async () => {
    const now = Date.now();
    const id = waiting ?? (`observed_${now}_${crypto.randomUUID().slice(0, 8)}` as const);
    const writtenAt = Number(id.split("_")[1]);
    const namespace = CHECKED_INDEX;
    const { dimensions } = MODELS.embedText;
    const values = Array.from({ length: dimensions }, (_, i) => Math.sin(i));
    const query = values.map((value, i) => value + 0.75 * Math.cos(3 * i));
    const found: VectorScore = {
      waiting: null,
      foundAfterMs: null,
      cosine: cosine(values, query),
      score: null,
      exactScore: null,
    };
    const scoreOf = async (returnValues: boolean) => {
      const { matches } = await space.query(query, { namespace, topK: 50, returnValues });
      return matches.find((match) => match.id === id)?.score ?? null;
    };
    if (waiting === null) await space.upsert([{ id, namespace, values }]);
    while (found.score === null && Date.now() - now < MAX_WAIT_MS) {
      found.score = await scoreOf(false);
      if (found.score === null) await scheduler.wait(POLL_MS);
    }
    if (found.score !== null) {
      found.foundAfterMs = Date.now() - writtenAt;
      found.exactScore = await scoreOf(true);
    } else if (Date.now() - writtenAt < MAX_AGE_MS) return { ...found, waiting: id };
    await space.deleteByIds([id]);
    return found;
  });
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

type MakeStatement = (size: number) => SqlFragment;

/** Statements that reach a limit of D1 with a size. They read no table. */
const STATEMENTS = {
  parameters: (size) => {
    const values = Array.from({ length: size }, (_, i) => sql`${i}`);
    return sql`SELECT ${concat(values, " + ")} AS sum`;
  },
  value_bytes: (size) => sql`SELECT length(${"x".repeat(size)}) AS length`,
  statement_bytes: (size) => raw("SELECT 1".padEnd(size)),
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
    const { error } = await observe(() => all(db, STATEMENTS[limit](size)));
    observations.push({ limit, size, error });
  }
  return observations;
}
