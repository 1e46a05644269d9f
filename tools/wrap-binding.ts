/** What happens to the calls of a binding. Returns what its caller gets. */
export type Intercept = (method: string, args: unknown[], call: () => unknown) => unknown;

/** What each proxy wraps. */
const targets = new WeakMap<object, object>();

/**
 * Wraps a binding, or what it returns, so that `intercept` makes each call of a method. Arguments
 * that are wrapped themselves, such as the statements of a batch, are unwrapped before the call.
 */
export function wrapBinding<Target extends object>(target: Target, intercept: Intercept): Target {
  const unwrap = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(unwrap) : (targets.get(value as object) ?? value);
  const proxy = new Proxy(target, {
    get: (_, property) => {
      const method: unknown = Reflect.get(target, property, target);
      if (typeof method !== "function" || typeof property === "symbol") return method;
      return (...args: unknown[]): unknown =>
        intercept(property, args, () => Reflect.apply(method, target, args.map(unwrap)));
    },
  });
  targets.set(proxy, target);
  return proxy;
}
