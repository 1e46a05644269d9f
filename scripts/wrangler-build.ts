import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bundleConsole } from "../tools/bundle-console.ts";

/**
 * What Wrangler runs before it reads the configuration's files: for a deployment, bundles the
 * console. `npx wrangler dev` becomes `npm run dev`, with stand-ins, because AI and FRAMES have
 * none in it.
 */
if (process.env["WRANGLER_COMMAND"] === "dev") {
  const { status } = spawnSync("npm", ["run", "dev"], { shell: true, stdio: "inherit" });
  process.exitCode = status || 1;
} else {
  await bundleConsole(join(process.cwd(), "console"), join(process.cwd(), "dist/console"));
}
