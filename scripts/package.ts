import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT } from "../tools/stack/local-state.ts";
import { runCommand, withUsageErrors } from "./command-line.ts";
import { writePackage } from "./package/contents.ts";

const USAGE = `Usage: npm run package [-- --out DIR] [--platform OS-CPU]

Packs the npm package of docs/command-line.md: the service, its offline engine and its console, for one
platform, without what only development needs.

  --out DIR           folder of the package (default dist/package)
  --platform OS-CPU   linux-x64, linux-arm64, darwin-arm64 or win32-x64 (default: this machine's)
  --help              print this help
`;

async function main(): Promise<void> {
  const options = {
    out: { type: "string" },
    platform: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values } = withUsageErrors(() => parseArgs({ options }));
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const { out = join(PROJECT, "dist/package") } = values;
  const platform = values.platform ?? `${process.platform}-${process.arch}`;
  const folder = resolve(out);
  await writePackage(join(folder, "contents"), platform);
  const args = ["pack", join(folder, "contents"), "--pack-destination", folder];
  const { status } = spawnSync("npm", args, { stdio: ["ignore", "inherit", "ignore"] });
  if (status !== 0) throw new Error("npm pack failed.");
}

await runCommand(main, USAGE);
