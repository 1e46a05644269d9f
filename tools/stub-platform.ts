import { registerHooks } from "node:module";

/** What the objects' classes extend, which only the platform has. */
const PLATFORM = `data:text/javascript,${encodeURIComponent(
  "export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }) } }",
)}`;

/** Makes the classes of objects importable in Node, by later imports. */
export function stubPlatform(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers"
        ? { url: PLATFORM, shortCircuit: true }
        : next(specifier, context),
  });
}
