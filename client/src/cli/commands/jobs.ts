import type { Job } from "../../index.ts";
import type { Command, CommandContext } from "../command.ts";
import { sanitizeLine } from "../sanitize.ts";

const DEFAULT_LIMIT = 20;
const ID = { name: "job-id" };

export const jobCommands: Command[] = [
  {
    name: "jobs list",
    summary: "List the latest jobs.",
    parameters: [],
    options: [
      {
        name: "limit",
        value: "N",
        description: `Number of jobs, 1 to 100 (default ${DEFAULT_LIMIT}).`,
      },
    ],
    examples: [{ line: "jobs list --limit 5", does: "The five latest" }],
    run: listJobs,
  },
  {
    name: "jobs get",
    summary: "Print a job with its result.",
    parameters: [ID],
    options: [],
    examples: [{ line: "jobs get job_… --json | jq .result", does: "The result" }],
    run: getJob,
  },
  {
    name: "jobs cancel",
    summary: "Cancel a job.",
    parameters: [ID],
    options: [],
    examples: [{ line: "jobs cancel job_…", does: "Stop what it hasn't done" }],
    run: cancelJob,
  },
];

async function listJobs({ args, client, output, signal }: CommandContext): Promise<void> {
  const limit = args.number("limit") ?? DEFAULT_LIMIT;
  const { items, total } = await (await client()).jobs.list({ limit }, { signal });
  output.json({ jobs: items, total });
  const rows = items.map((job) => [
    job.job_id,
    job.kind,
    job.state,
    `${Math.floor(job.progress * 100)} %`,
    job.created_at.slice(0, 16).replace("T", " "),
    job.error ? `${job.error.code}: ${job.error.message}` : "",
  ]);
  const columns = [
    { title: "job" },
    { title: "kind" },
    { title: "state" },
    { title: "done", align: "right" as const },
    { title: "created (UTC)" },
    { title: "error", minWidth: 5 },
  ];
  if (rows.length > 0) output.table(columns, rows);
  else output.line("There is no job.");
}

async function getJob({ args, client, output, signal }: CommandContext): Promise<void> {
  const job = await (await client()).jobs.get(args.positionals[0]!, { signal });
  printJob(output, job);
  if (job.result !== null) output.line(sanitizeLine(JSON.stringify(job.result)));
}

async function cancelJob({ args, client, output, signal }: CommandContext): Promise<void> {
  printJob(output, await (await client()).jobs.cancel(args.positionals[0]!, { signal }));
}

function printJob(output: CommandContext["output"], job: Job): void {
  output.json(job);
  output.line(`${job.kind} ${job.job_id}: ${job.state}, ${Math.floor(job.progress * 100)} %`);
  if (job.error) output.line(`${job.error.code}: ${sanitizeLine(job.error.message)}`);
}
