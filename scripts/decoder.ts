import { parseArgs } from "node:util";
import { runCommand, UsageError, withUsageErrors } from "./command-line.ts";
import { writeDecoder } from "./decoder/contents.ts";

const USAGE = `Usage: npm run decoder -- --out DIR

Writes the decoder of docs/operate.md into an empty folder: the media part of the engine, with a
package.json and a lockfile that have only what it needs. decoder/Dockerfile makes an image of it.
To run it without one:

  cd DIR && npm ci --ignore-scripts && ENGINE_TOKEN=… npm start

  --out DIR    the folder, which is created
  --help       print this help
`;

async function main(): Promise<void> {
  const options = {
    out: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { out, help } = withUsageErrors(() => parseArgs({ options })).values;
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  if (!out) throw new UsageError("--out DIR is missing.");
  const { sources, dependencies } = await writeDecoder(out);
  const packages = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  console.log(`${out}: ${sources.length} source files; ${packages.join(", ")}`);
}

await runCommand(main, USAGE);
