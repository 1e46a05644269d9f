import { lookAtSources } from "../care/imports.ts";
import { newReport } from "../care/report.ts";
import { type Reached, traverse } from "../care/traverse.ts";
import { meter } from "../models/meter.ts";
import { requireJob } from "../store/jobs.ts";
import { addUsage } from "../store/usage.ts";
import { AGAIN, type Run } from "./run.ts";

/** Makes good what is found of an index, a stretch at a time, and looks at the sources that it follows. */
export const runTraverseJob: Run = async (env, job, progressed) => {
  const { result } = await requireJob(env.DB, job.accountId, job.jobId);
  const reached: Reached = { ...newReport(), after: "", ...(result as Partial<Reached> | null) };
  const { ai, used } = meter(env.AI);
  try {
    const tell = (share: number) => progressed(share, reached);
    if (!(await traverse({ ...env, AI: ai }, job, reached, tell))) {
      await progressed(0, reached);
      return AGAIN;
    }
  } finally {
    if (used.modelCalls > 0) await addUsage(env.DB, job.accountId, used);
  }
  const { after: _, ...report } = reached;
  return { ...report, sources: await lookAtSources(env, job) };
};
