/**
 * Wraps an object so that `onCall` gets the name and arguments of each call of a method before it
 * is made. `replaced` are called instead of the methods of these names.
 */
export function countCalls<Target extends object>(
  target: Target,
  onCall: (name: string, args: readonly unknown[]) => void,
  replaced: Partial<Target> = {},
): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name === "symbol") return value;
      return (...args: unknown[]): unknown => {
        onCall(name, args);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** Wraps an object so that `replaced` are called instead of the methods of these names. */
export function replaceMethods<Target extends object>(
  target: Target,
  replaced: Partial<Target>,
): Target {
  return countCalls(target, () => {}, replaced);
}
