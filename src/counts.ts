/** What is counted of an account's day: work of the service, and operations that are billed. */
export const COUNT_NAMES = [
  "searches",
  "answers",
  "modelCalls",
  "inputTokens",
  "outputTokens",
  "audioSeconds",
  "neurons",
  "frames",
  "images",
  "convertedSeconds",
  "dimensionsQueried",
  "vectorsWritten",
  "rowsRead",
  "rowsWritten",
  "objectRequests",
  "bucketReads",
  "bucketWrites",
  "requests",
  "queueOperations",
] as const;
export type CountName = (typeof COUNT_NAMES)[number];

/** Calls of an invocation that the platform limits (`LIFECYCLE.slice`), so far. */
export interface InvocationCalls {
  /** Statements that D1 has run: each one of a batch counts. */
  queries: number;
  /** Calls of bindings. */
  subrequests: number;
}

export function newInvocationCalls(): InvocationCalls {
  return { queries: 0, subrequests: 0 };
}

/** Adds to a count of an account's usage, or of its invocation. May throw to prevent the call. */
export type Count = (name: CountName | keyof InvocationCalls, count: number) => void;

const counters = new WeakMap<object, Count>();

/** Returns what counts the work of a binding, whose callers report it: `countCalls`. */
export function countOf(binding: object): Count {
  return counters.get(binding) ?? (() => {});
}

/** Has `countOf` return `count` for a binding that isn't shared with other accounts. */
export function setCount<Binding extends object>(binding: Binding, count: Count): Binding {
  counters.set(binding, count);
  return binding;
}

/**
 * Wraps a binding so that `countOf` returns `count` for it, and `onCall` gets the name and
 * arguments of each call of a method before it is made. `replaced` are called instead of the
 * methods of these names.
 */
export function countCalls<Binding extends object>(
  binding: Binding,
  count: Count,
  onCall: (name: string, args: readonly unknown[]) => void = () => {},
  replaced: Partial<Binding> = {},
): Binding {
  const wrapped = new Proxy({} as Binding, {
    get(_, name) {
      const value: unknown = Reflect.get(replaced, name) ?? Reflect.get(binding, name, binding);
      if (typeof value !== "function" || typeof name === "symbol") return value;
      return (...args: unknown[]): unknown => {
        onCall(name, args);
        return Reflect.apply(value, binding, args);
      };
    },
  });
  return setCount(wrapped, count);
}
