import type { Job, Sightline } from "../index.ts";
import type { CommandContext } from "./command.ts";
import { ProgressBars } from "./progress-bars.ts";

/** Waits for a job, with a progress bar on stderr. Throws if the job fails. */
export async function waitForJob(
  { output, signal }: Pick<CommandContext, "output" | "signal">,
  sightline: Sightline,
  jobId: string,
  name: string,
): Promise<Job> {
  const bars = new ProgressBars(output.stderr, output.isQuiet);
  bars.add(jobId, name, 1);
  try {
    return await sightline.jobs.wait(jobId, {
      signal,
      onProgress: ({ progress, state }) => bars.update(jobId, progress, state),
    });
  } finally {
    bars.clear();
  }
}
