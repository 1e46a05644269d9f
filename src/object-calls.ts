import { countOf } from "./counts.ts";
import { AppError } from "./errors.ts";

/** Bindings of the objects that this project's own classes make. */
export type ObjectBinding = "INDEX_DATABASE" | "MEDIA_INDEX" | "MODEL_LIMITER";

/** Last argument of a call: how many migrations of the object's schema its caller knows. */
export interface CallerSchema {
  callerSchema: number;
}

/** Answer of an object that runs an earlier version than its caller. It then restarts. */
export const OUTDATED = "outdated";

/** How many migrations each schema has in this version of the Worker. The classes fill it in. */
export const SCHEMAS: Partial<Record<ObjectBinding, number>> = {};

/** Delays before a call is repeated whose object was reset, as each deployment does. */
const RETRY_MS = [20, 100, 500];

/**
 * Returns the methods of an object. Their calls are those of `repeatCall`, and reach no object of
 * an earlier version than this one.
 */
export function objectMethods<Binding extends ObjectBinding>(
  env: Pick<Env, Binding>,
  binding: Binding,
  name: string,
  subject: string,
): ReturnType<Env[Binding]["getByName"]> {
  const count = countOf(env[binding]);
  const callMethod = (method: string, args: unknown[]) =>
    repeatCall(subject, async () => {
      count("objectRequests", 1);
      count("subrequests", 1);
      const stub = env[binding].getByName(name) as unknown as Record<string, RemoteMethod>;
      const caller: CallerSchema = { callerSchema: SCHEMAS[binding] ?? 0 };
      try {
        const result = await stub[method]!(...args, caller);
        if (hasRows(result)) {
          count("rowsRead", result.rowsRead);
          count("rowsWritten", result.rowsWritten);
        }
        return result;
      } catch (error) {
        if (!/does not implement/.test(String(error))) throw error;
        return stub["restart"]!(); // the method is newer than the object
      }
    });
  const methods = new Proxy(
    {},
    {
      get: (_, method) =>
        method === "then" // or an `await` would call it
          ? undefined
          : (...args: unknown[]) => callMethod(String(method), args),
    },
  );
  return methods as ReturnType<Env[Binding]["getByName"]>;
}

/** Whether the result of a call tells how many rows it read and wrote. */
function hasRows(result: unknown): result is { rowsRead: number; rowsWritten: number } {
  return typeof result === "object" && result !== null && "rowsRead" in result;
}

type RemoteMethod = (...args: unknown[]) => Promise<unknown>;

/**
 * Makes a call of an object, and repeats it if the object is reset meanwhile or outdated. So a call
 * may run twice, of which the first may have been cut off anywhere. Throws `upstream_unavailable`
 * if the object is overloaded, or stays out of reach.
 */
export async function repeatCall<T>(subject: string, call: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    let cause: ObjectError;
    try {
      const answer = await call();
      if (answer !== OUTDATED) return answer;
      cause = { retryable: true };
    } catch (error) {
      cause = error as ObjectError;
    }
    const { retryable, durableObjectReset, overloaded } = cause;
    if (!retryable && !durableObjectReset && !overloaded) throw cause;
    const delay = overloaded ? undefined : RETRY_MS[retries];
    if (delay === undefined) {
      throw new AppError("upstream_unavailable", `${subject} does not answer; try again.`, {
        cause,
      });
    }
    await scheduler.wait(delay);
  }
}

/** An error of a call of an object: the platform's have one of these properties. */
interface ObjectError {
  retryable?: boolean;
  /** The object was reset during the call, for example by a deployment. */
  durableObjectReset?: boolean;
  overloaded?: boolean;
}
