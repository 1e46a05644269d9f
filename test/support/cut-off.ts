import { env } from "cloudflare:workers";

/** Thrown instead of a call of a store. */
class CutOff extends Error {}

function isCutOff(error: unknown): boolean {
  return error instanceof CutOff || (error instanceof Error && isCutOff(error.cause));
}

const CALLS: Partial<Record<keyof Env, readonly string[]>> = {
  MEDIA: ["put", "delete", "list", "get", "head"],
  TEXT_VECTORS_1: ["upsert", "deleteByIds", "getByIds", "query"],
  IMAGE_VECTORS_1: ["upsert", "deleteByIds", "getByIds", "query"],
};

/**
 * The bindings of a Worker that ends at its call number `calls` (from 0) of D1, an index's
 * database, R2 or Vectorize: this call and all later ones throw and change nothing.
 */
function envUntil(calls: number, settings: Partial<Env>): Env {
  let count = 0;
  const check = () => {
    if (count++ >= calls) throw new CutOff();
  };
  const guard = <T extends object>(target: T, methods: readonly string[]): T =>
    new Proxy(target, {
      get(inner, name) {
        const value: unknown = Reflect.get(inner, name);
        if (typeof value !== "function") return value;
        return async (...parameters: unknown[]) => {
          if (methods.includes(String(name))) check();
          return Reflect.apply(value, inner, parameters) as unknown;
        };
      },
    });
  const guarded = Object.entries(CALLS).map(([name, methods]) => {
    const binding = (settings[name as keyof Env] ?? env[name as keyof Env]) as object;
    return [name, guard(binding, methods)] as const;
  });
  const databases = {
    getByName: (name: string) => {
      const object = env.INDEX_DATABASE.getByName(name);
      return {
        batch: async (statements: Parameters<typeof object.batch>[0]) => {
          check();
          return object.batch(statements);
        },
        close: async () => {
          check();
          return object.close();
        },
      };
    },
  };
  return {
    ...env,
    ...settings,
    ...Object.fromEntries(guarded),
    DB: guardDatabase(check),
    INDEX_DATABASE: databases as unknown as Env["INDEX_DATABASE"],
  };
}

/** D1 whose statements and batches call `check` before they run. */
function guardDatabase(check: () => void): D1Database {
  const targets = new WeakMap<object, D1PreparedStatement>();
  const guardStatement = (statement: D1PreparedStatement): D1PreparedStatement => {
    const guarded = {
      bind: (...values: unknown[]) => guardStatement(statement.bind(...values)),
      async first(column?: string) {
        check();
        return column === undefined ? statement.first() : statement.first(column);
      },
      async all() {
        check();
        return statement.all();
      },
      async run() {
        check();
        return statement.run();
      },
    } as unknown as D1PreparedStatement;
    targets.set(guarded, statement);
    return guarded;
  };
  return {
    prepare: (sql: string) => guardStatement(env.DB.prepare(sql)),
    batch: async (statements: D1PreparedStatement[]) => {
      check();
      return env.DB.batch(statements.map((statement) => targets.get(statement)!));
    },
  } as unknown as D1Database;
}

/**
 * Runs an operation again and again, cut off at its first call of a store, at its second and so on,
 * until it comes to its end. Calls `verify` after each, with the number of calls that it made.
 */
export async function cutOffEverywhere(
  operation: (env: Env) => Promise<unknown>,
  verify: (calls: number, isComplete: boolean) => Promise<void>,
  settings: Partial<Env> = {},
): Promise<number> {
  for (let calls = 0; ; calls++) {
    let isComplete = true;
    try {
      await operation(envUntil(calls, settings));
    } catch (error) {
      if (!isCutOff(error)) throw error;
      isComplete = false;
    }
    await verify(calls, isComplete);
    if (isComplete) return calls;
  }
}
