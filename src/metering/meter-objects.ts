import type { DatabaseResult } from "../store/index-database.ts";
import type { Count } from "./usage-meter.ts";

/** Wraps a namespace of Durable Objects to count calls, and the rows that their results tell. */
export function meterObjects<Class extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Class>,
  count: Count,
): DurableObjectNamespace<Class> {
  const getByName = (name: string): DurableObjectStub<Class> => {
    const stub = namespace.getByName(name);
    return new Proxy(stub, {
      get(_, method) {
        const value: unknown = Reflect.get(stub, method);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          count("objectRequests", 1);
          const result: unknown = await Reflect.apply(value, stub, args);
          if (hasRows(result)) {
            count("rowsRead", result.rowsRead);
            count("rowsWritten", result.rowsWritten);
          }
          return result;
        };
      },
    });
  };
  return { getByName } as DurableObjectNamespace<Class>;
}

function hasRows(result: unknown): result is DatabaseResult<unknown> {
  return typeof result === "object" && result !== null && "rowsRead" in result;
}
