import { registerHooks } from "node:module";

/** What the objects' classes extend, which only the platform has in `cloudflare:workers`. */
export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** Makes the objects' classes importable in Node, by later imports. */
export function providePlatformClasses(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers"
        ? { url: import.meta.url, shortCircuit: true }
        : next(specifier, context),
  });
}
