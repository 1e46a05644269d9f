import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { type Column, formatRow, sanitizeLine } from "../tools/terminal.ts";
import { runCommand, withUsageErrors } from "./command-line.ts";
import { DIFFERENCES } from "./rehearse/differences.ts";
import { rehearse } from "./rehearse/rehearsal.ts";
import { type Step, StepLog } from "./rehearse/step-log.ts";

const USAGE = `Usage: npm run rehearse [-- options]

Follows docs/deploy.md from an empty account to the second deployment, on this machine: a fake
account takes the place of Cloudflare's API, and Miniflare runs the Worker that was deployed, with
the configuration that setup wrote. Then uses it, and lists how a rehearsal differs from a
deployment.
Takes some minutes, needs bash and curl, and no account.

  --json    print the steps and the differences as one line of JSON at the end
  --keep    keep the clone, the stores and the logs; they are kept if a step fails, too
  --help    print this help

The exit code is 1 if a step fails.
`;

const COLUMNS: Column[] = [
  { title: "", width: 13 },
  { title: "", width: 100 },
];

async function main(): Promise<void> {
  const { values } = withUsageErrors(() =>
    parseArgs({
      options: {
        json: { type: "boolean" },
        keep: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }),
  );
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  process.env["WRANGLER_LOG"] = "error";
  const folder = await mkdtemp(join(await realpath(tmpdir()), "sightline-rehearsal-"));
  const log = new StepLog(printStep);
  let isKept = true;
  try {
    await rehearse({ folder, log, signal: onInterrupt() });
    isKept = values.keep === true || log.failedCount > 0;
  } finally {
    if (isKept) console.log(`\nClone, stores and logs: ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
  console.log("\nHow a rehearsal differs from a deployment\n");
  for (const { subject, rehearsal, production, assumptions } of DIFFERENCES) {
    console.log(`${subject}\n  Here:     ${rehearsal}\n  Deployed: ${production}`);
    for (const assumption of assumptions) console.log(`  Checked by npm run smoke: ${assumption}`);
  }
  const { steps, failedCount: failed } = log;
  console.log(`\n${steps.length - failed} steps passed, ${failed} failed.`);
  if (values.json) console.log(JSON.stringify({ steps, failed, differences: DIFFERENCES }));
  if (failed > 0) process.exitCode = 1;
}

function printStep({ outcome, title, note, seconds }: Step): void {
  const time = seconds >= 0.1 ? ` (${seconds.toFixed(1)} s)` : "";
  const text = outcome === "failed" ? note : sanitizeLine(note);
  console.log(formatRow(COLUMNS, [outcome, `${title}${time}: ${text}`]));
}

await runCommand(main, USAGE);
