import { type CallerSchema, type ObjectBinding, OUTDATED, SCHEMAS } from "../object-calls.ts";

/**
 * Applies the migrations, in order, that an object's storage doesn't have yet. It may have more
 * than these, of a later version that was rolled back.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly string[]): void {
  const done = storage.kv.get<number>("schema") ?? 0;
  if (done >= migrations.length) return;
  storage.transactionSync(() => {
    for (const sql of migrations.slice(done)) storage.sql.exec(sql);
    storage.kv.put("schema", migrations.length);
  });
}

/**
 * Makes the methods of a class answer `outdated` to a caller that knows more migrations. After a
 * deployment, objects may run the version before it until they are reset: so they restart.
 */
export function refuseLaterCallers(
  { prototype }: { prototype: object },
  binding: ObjectBinding,
  { length }: readonly string[],
): void {
  SCHEMAS[binding] = length;
  const methods = prototype as Record<string, Method>;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method = methods[name]!;
    if (name === "constructor") continue;
    methods[name] = function (this: WithState, ...args: unknown[]) {
      const caller = args.at(-1);
      if (!isCallerSchema(caller)) return method.apply(this, args);
      if (caller.callerSchema > length) return restart(this.ctx);
      return method.apply(this, args.slice(0, -1));
    };
  }
  methods["restart"] = function (this: WithState) {
    return restart(this.ctx);
  };
}

interface WithState {
  ctx: DurableObjectState;
}
type Method = (this: WithState, ...args: unknown[]) => unknown;

function isCallerSchema(value: unknown): value is CallerSchema {
  return typeof value === "object" && value !== null && "callerSchema" in value;
}

/** Resets an object once its answer is out. Its next call gets the deployed version. */
function restart(ctx: DurableObjectState): typeof OUTDATED {
  ctx.waitUntil(ctx.storage.sync().then(() => ctx.abort("A later version was deployed.")));
  return OUTDATED;
}
