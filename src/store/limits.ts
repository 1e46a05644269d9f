import { ACCOUNT_LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AccountId } from "../ids.ts";

const DAY_MS = 24 * 3600 * 1000;
const SOON_S = 60;

/** Of today (UTC). */
const today = (sum: string) =>
  `(SELECT ${sum} FROM usage WHERE usage.account_id = accounts.account_id AND date = date('now'))`;
const all = (sum: string, where = "true") =>
  `(SELECT SUM(${sum}) FROM tallies WHERE tallies.account_id = accounts.account_id AND ${where})`;
const open = (sum: string) =>
  `(SELECT ${sum} FROM uploads WHERE uploads.account_id = accounts.account_id AND became IS NULL)`;
const UNDER_WAY = "state NOT IN ('ready', 'failed')";

/** Of each limit, how much of it is used, and when there is more: `midnight` (UTC), `soon`, or if something goes. */
const USED = {
  searches_per_day: { sql: today("searches"), more: "midnight" },
  answers_per_day: { sql: today("answers"), more: "midnight" },
  // What is under way is metered when it is ready.
  ingest_minutes_per_day: {
    sql: `COALESCE(${today("ingested_ms / 60000.0")}, 0) + COALESCE(${all("duration_ms / 60000.0", UNDER_WAY)}, 0)`,
    more: "midnight",
  },
  ingest_images_per_day: {
    sql: `COALESCE(${today("ingested_images")}, 0) + COALESCE(${all("assets", `asset_type = 'image' AND ${UNDER_WAY}`)}, 0)`,
    more: "midnight",
  },
  concurrent_ingests: { sql: all("assets", UNDER_WAY), more: "soon" },
  // With what is to come of uploads.
  stored_bytes: {
    sql: `COALESCE(${all("size_bytes")}, 0) + COALESCE(${open("SUM(COALESCE(length, received))")}, 0)`,
    more: "never",
  },
  open_uploads: { sql: open("COUNT(*)"), more: "soon" },
  keys: {
    sql: `(SELECT COUNT(*) FROM api_keys WHERE api_keys.account_id = accounts.account_id AND revoked_at IS NULL
             AND COALESCE(expires_at, 9e15) > unixepoch() * 1000)`,
    more: "never",
  },
} as const satisfies Partial<Record<keyof typeof ACCOUNT_LIMITS, object>>;

/** What is counted, and can be another number for one account. */
export type Limit = keyof typeof USED;

type Limits = Record<keyof typeof ACCOUNT_LIMITS, number>;

/** What an account may: what every account may, but for what its row says. */
export async function getLimits(db: D1Database, accountId: AccountId): Promise<Limits> {
  const own = await db
    .prepare("SELECT limits FROM accounts WHERE account_id = ?")
    .bind(accountId)
    .first<string>("limits");
  return withOwn(own!);
}

/** So much more of each limit. */
export type Wanted = { readonly [limit in Limit]?: number };
type Used = { limits: string } & Record<Limit, number>;

/**
 * What an account wants room for, in a transaction that takes it: a statement that is held to `condition`
 * changes nothing where there is none, and `require` of what `look` found after it says why.
 */
export class Room {
  readonly #accountId: AccountId;
  readonly #wanted: Wanted;
  readonly #names: Limit[];

  constructor(accountId: AccountId, wanted: Wanted) {
    this.#accountId = accountId;
    this.#wanted = wanted;
    this.#names = Object.keys(wanted) as Limit[];
  }

  /** SQL, for `bindings`. */
  get condition(): string {
    const held = this.#names.map(
      (name) => `COALESCE(${USED[name].sql}, 0) + ? <= COALESCE(limits ->> '$.${name}', ?)`,
    );
    return `EXISTS (SELECT 1 FROM accounts WHERE ${["account_id = ?", ...held].join(" AND ")})`;
  }

  get bindings(): (string | number)[] {
    const most = this.#names.flatMap((name) => [this.#wanted[name]!, ACCOUNT_LIMITS[name]]);
    return [this.#accountId, ...most];
  }

  look(db: D1Database): D1PreparedStatement {
    const columns = this.#names.map((name) => `COALESCE(${USED[name].sql}, 0) AS ${name}`);
    return db
      .prepare(`SELECT limits, ${columns.join(", ")} FROM accounts WHERE account_id = ?`)
      .bind(this.#accountId);
  }

  /**
   * Throws `limit_reached`, or `account_full` where waiting won't help, with the limit's name, unless there is
   * room beside what is `used`: what `look` found.
   */
  require(used: unknown): void {
    const row = used as Used;
    const limits = withOwn(row.limits);
    const reached = this.#names.find((name) => row[name] + this.#wanted[name]! > limits[name]);
    if (reached) throw refusal(reached, limits[reached], Date.now());
  }
}

/** Throws as `Room.require` does, before work begins for which there may be no room in the end. */
export async function requireRoom(
  db: D1Database,
  accountId: AccountId,
  wanted: Wanted,
): Promise<void> {
  const room = new Room(accountId, wanted);
  room.require(await room.look(db).first());
}

function withOwn(own: string): Limits {
  const given = Object.entries(JSON.parse(own) as Partial<Limits>);
  return { ...ACCOUNT_LIMITS, ...Object.fromEntries(given.filter(([name]) => name in USED)) };
}

function refusal(name: Limit, most: number, now: number): AppError {
  const { more } = USED[name];
  const message = `This account has reached its limit ${name} (${most}); ${REMEDIES[more]}.`;
  if (more === "never") return new AppError("account_full", message);
  const retryAfter = more === "soon" ? SOON_S : Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
  return new AppError("limit_reached", message, { retryAfter });
}

const REMEDIES = {
  midnight: "there is more from midnight (UTC) on",
  soon: "wait until some have ended",
  never: "delete what isn't needed",
};
