import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../failure.ts";
import { indexName } from "../index-name.ts";
import { waitForJob } from "../job-progress.ts";
import { formatCount } from "../quantity-format.ts";
import { sanitizeLine } from "../sanitize.ts";

export const traverseCommand: Command = {
  name: "traverse",
  summary: "Check the stored data of an index, and repair it with --repair.",
  details:
    "Prints the assets with findings and ends with 1 if there are any. With --repair, a job repairs " +
    "what it can and looks at followed sources.",
  parameters: [],
  options: [{ name: "repair", description: "Repair what the check finds." }],
  examples: [
    { line: "traverse --index trip", does: "Check" },
    { line: "traverse --repair --index trip", does: "Repair" },
  ],
  run: traverse,
};

/** Result of a repair. */
interface Report {
  assets: number;
  findings: Record<string, number>;
  repaired: Record<string, number>;
  unrepaired: { asset_id: string | null; code: string; message: string }[];
}

async function traverse(context: CommandContext): Promise<number> {
  return context.args.flag("repair") ? repair(context) : check(context);
}

async function check(context: CommandContext): Promise<number> {
  const { client, output, signal } = context;
  const index = (await client()).index(indexName(context));
  let [total, unhealthy] = [0, 0];
  for await (const { items, index: record, health } of index
    .traverse({ limit: 100 }, { signal })
    .pages()) {
    for (const node of items) {
      output.json(node);
      total += 1;
      if (!node.health.ok) unhealthy += 1;
      printFindings(output, `${node.asset.title} (${node.asset.asset_id})`, node.health);
    }
    if (!health) continue;
    output.json({ index: record, health });
    if (!health.ok) unhealthy += 1;
    printFindings(output, `The index ${record.index_name}`, health);
  }
  const findings = unhealthy === 0 ? "no findings" : `findings in ${unhealthy}`;
  output.line(`${formatCount(total, "asset")} checked, ${findings}.`);
  if (unhealthy > 0) output.line("Repair with: sightline traverse --repair");
  return unhealthy > 0 ? EXIT.failed : EXIT.done;
}

/** Prints what is wrong with an asset or an index; nothing if it is well. */
function printFindings(
  output: CommandContext["output"],
  subject: string,
  { findings }: { findings: { code: string; message: string }[] },
): void {
  if (findings.length > 0) output.line(sanitizeLine(subject));
  for (const { code, message } of findings) output.line(`  ${code}: ${sanitizeLine(message)}`);
}

async function repair(context: CommandContext): Promise<number> {
  const { client, output, signal } = context;
  const sightline = await client();
  const name = indexName(context);
  const { job_id } = await sightline.index(name).repair({ signal });
  const job = await waitForJob(context, sightline, job_id, name);
  output.json(job);
  const report = job.result as Partial<Report> | null;
  const unrepaired = report?.unrepaired ?? [];
  output.line(`${formatCount(report?.assets ?? 0, "asset")} checked.`);
  for (const [code, count] of Object.entries(report?.findings ?? {})) {
    output.line(`  ${code}: ${count} found, ${report?.repaired?.[code] ?? 0} repaired`);
  }
  for (const { asset_id, code, message } of unrepaired) {
    output.line(`  ${asset_id ?? "index"}: ${code}: ${sanitizeLine(message)}`);
  }
  return unrepaired.length > 0 ? EXIT.failed : EXIT.done;
}
