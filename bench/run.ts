import { readdirSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import type { SuiteResult, Suite } from "../tools/suite.ts";

const FOLDERS = { eval: "quality", bench: "speed" } as const;

async function main(): Promise<void> {
  const [kind, ...args] = process.argv.slice(2);
  if (kind !== "eval" && kind !== "bench") throw new Error("Usage: node bench/run.ts eval|bench");
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      data: { type: "string" },
      cases: { type: "string" },
      sizes: { type: "string", default: "1000,10000,100000" },
      minutes: { type: "string", default: "1,10" },
      requests: { type: "string", default: "5000" },
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: String(Date.now() % 1e9) },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
  });
  const suites = await loadSuites(FOLDERS[kind]);
  const suite = suites.get(positionals[0] ?? "");
  if (values.help || !suite) {
    (values.help ? console.log : console.error)(usage(kind, suites));
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const result = await suite.run({
    dataDir: resolve(values.data ?? join(PROJECT, "../shared/data")),
    ...(values.cases !== undefined && { casesFile: resolve(values.cases) }),
    sizes: readNumbers("sizes", values.sizes),
    minutes: readNumbers("minutes", values.minutes),
    requests: readNumbers("requests", values.requests)[0]!,
    seconds: readNumbers("seconds", values.seconds)[0]!,
    seed: readNumbers("seed", values.seed)[0]!,
    log: (line) => console.error(line),
    signal: onInterrupt(),
  });
  if (values.json) console.log(JSON.stringify(result.json));
  else printResult(result);
  if (result.problems) process.exitCode = 1;
}

async function loadSuites(folder: string): Promise<Map<string, Suite>> {
  const files = readdirSync(join(import.meta.dirname, folder)).sort();
  const suites = new Map<string, Suite>();
  for (const file of files) {
    const { suite }: { suite: Suite } = await import(`./${folder}/${file}`);
    suites.set(file.replace(/\.ts$/, ""), suite);
  }
  return suites;
}

function readNumbers(name: string, text: string): number[] {
  const numbers = text.split(",").map(Number);
  const arePositiveIntegers = numbers.every((number) => Number.isInteger(number) && number > 0);
  if (arePositiveIntegers) return numbers.sort((a, b) => a - b);
  throw new Error(`--${name} takes positive integers separated by commas, not "${text}".`);
}

function usage(kind: string, suites: Map<string, Suite>): string {
  const lines = [...suites].map(([name, { summary }]) => `  ${name.padEnd(16)} ${summary}`);
  return `Usage: npm run ${kind} -- <suite> [options]

${lines.join("\n")}

Options:
  --data DIR     folder with the test media (default ../shared/data)
  --cases FILE   expectations of the suite "repro" (default <DIR>/cases.json)
  --sizes N,…    corpus sizes in segments (default 1000,10000,100000)
  --minutes N,…  durations of the generated videos (default 1,10)
  --requests N   number of generated requests (default 5000)
  --seconds N    seconds of attack on each operation (default 60)
  --seed N       seed of generated requests: the same seed, the same requests (default random)
  --json         print the result as one JSON object on the last line`;
}

function printResult({ table }: SuiteResult): void {
  const [cpu] = cpus();
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  console.table(table);
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpu?.model}, ${memoryGib} GiB`;
  console.log(`${date}, ${machine}, Node ${process.version}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
