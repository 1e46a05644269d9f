import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { parse } from "smol-toml";
import { measureCpuSeconds } from "../tools/processes.ts";
import { readModules } from "./rehearse/worker-options.ts";

/** Most KiB of the bundle, gzipped. Cloudflare allows 10 MiB. */
const MAX_GZIP_KIB = 1000;
/** Most milliseconds of processor time in which the bundle is evaluated. Cloudflare allows 1 s. */
const MAX_STARTUP_MS = 500;
/** Attempts to stay within that: other programs on the machine only lengthen it. */
const ATTEMPTS = 5;

/** Checks the bundle of `npm run build`. */
const root = join(import.meta.dirname, "..");
const modules = await readModules(join(root, "dist"));
const kib = modules.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
let startupMs = Infinity;
for (let i = 0; i < ATTEMPTS && startupMs > MAX_STARTUP_MS; i++) {
  startupMs = Math.min(startupMs, await measureStartup());
}
console.log(`Bundle: ${kib.toFixed(0)} KiB gzipped. Start-up: ${startupMs.toFixed(0)} ms.`);
if (kib > MAX_GZIP_KIB) fail(`The bundle has more than ${MAX_GZIP_KIB} KiB gzipped.`);
if (startupMs > MAX_STARTUP_MS) fail(`The Worker takes more than ${MAX_STARTUP_MS} ms to start.`);

/**
 * Returns the processor time in which workerd evaluates the bundle: the first request imports it.
 * `wrangler check startup` does so, too, but measures elapsed time, which grows on a busy machine.
 * Reads /proc: 0 on other systems than Linux.
 */
async function measureStartup(): Promise<number> {
  const config = parse(await readFile(join(root, "wrangler.toml"), "utf8"));
  const entry = `export default {
    async fetch() {
      await import("./index.js");
      return new Response();
    }
  }`;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      compatibilityDate: config["compatibility_date"] as string,
      compatibilityFlags: config["compatibility_flags"] as string[],
      modulesRoot: join(root, "dist"),
      modules: [
        { type: "ESModule", path: join(root, "dist/entry.js"), contents: entry },
        ...modules,
      ],
    }),
  );
  try {
    await miniflare.ready;
    const before = await measureCpuSeconds("workerd");
    await miniflare.dispatchFetch("http://localhost/");
    return ((await measureCpuSeconds("workerd")) - before) * 1000;
  } finally {
    await miniflare.dispose();
  }
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
