import { lookAtSources } from "../care/imports.ts";
import { newReport } from "../care/report.ts";
import { type Reached, traverse } from "../care/traverse.ts";
import { requireJob } from "../store/jobs.ts";
import { metered } from "./metered.ts";
import { AGAIN, type Run } from "./run.ts";

/** Makes good what is found of an index, a stretch at a time, and looks at the sources that it follows. */
export const runTraverseJob: Run = async (env, job, progressed) => {
  const { result } = await requireJob(env.DB, job.accountId, job.jobId);
  const reached: Reached = { ...newReport(), after: "", ...(result as Partial<Reached> | null) };
  const tell = (share: number) => progressed(share, reached);
  const isDone = await metered(env, job.accountId, (own) => traverse(own, job, reached, tell));
  if (!isDone) {
    await progressed(0, reached);
    return AGAIN;
  }
  const { after: _, ...report } = reached;
  return { ...report, sources: await lookAtSources(env, job) };
};
