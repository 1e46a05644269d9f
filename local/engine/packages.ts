import { createRequire } from "node:module";
import { dirname } from "node:path";

const require = createRequire(import.meta.url);

/** Returns the folder of the file that `specifier` (a package or a file in one) resolves to. */
export function packageFolder(specifier: string): string {
  return dirname(require.resolve(specifier));
}
