import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** What the objects' classes extend, which only the platform has in `cloudflare:workers`. */
export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** Makes the objects' classes, and WebAssembly modules, importable in Node, by later imports. */
export function providePlatformClasses(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers"
        ? { url: import.meta.url, shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url.endsWith(".wasm")
        ? { format: "module", source: wasmModule(fileURLToPath(url)), shortCircuit: true }
        : next(url, context),
  });
}

/** Returns the source of a module that has what the platform makes of a `.wasm` file. */
export function wasmModule(path: string): string {
  return `import { readFileSync } from "node:fs";
export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`;
}
