import { parseArgs } from "node:util";
import { buildSamplePack } from "../tools/sample/pack.ts";

const USAGE = `Usage: npm run --silent sample

Writes the sample videos and images of the demo, and prints their folder. Uploads nothing.
`;

const { values } = parseArgs({ options: { help: { type: "boolean", short: "h" } } });
if (values.help) {
  process.stdout.write(USAGE);
} else {
  console.log((await buildSamplePack()).folder);
}
