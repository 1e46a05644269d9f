import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Whether this is the npm package, which consists of JavaScript: docs/command-line.md. */
export const IS_PACKAGE = import.meta.url.endsWith(".js");

/** Returns how users of this installation run a script of the project. */
export function commandLine(script: "demo" | "dev" | "models", args = ""): string {
  if (IS_PACKAGE) {
    const words = { demo: "", dev: "serve", models: "models" };
    return ["npx sightline", words[script], args].filter(Boolean).join(" ");
  }
  return `npm run ${script}${args && ` -- ${args}`}`;
}

const require = createRequire(import.meta.url);

/** Returns the folder of the file that `specifier` (a package or a file in one) resolves to. */
export function packageFolder(specifier: string): string {
  return dirname(require.resolve(specifier));
}
