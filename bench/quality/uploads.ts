import { resumeUpload } from "../resumed-upload.ts";
import type { Suite } from "../suite.ts";

const PLAN = { megabytes: 300, cuts: 10, restarts: 2 } as const;

export const suite: Suite = {
  summary: `${PLAN.megabytes} MB by tus-js-client, the connection cut ${PLAN.cuts} times and the Worker restarted ${PLAN.restarts} times`,
  async run(options) {
    const resumed = await resumeUpload(PLAN, options);
    const json = {
      megabytes: PLAN.megabytes,
      ...resumed,
      isIdentical: String(resumed.isIdentical),
    };
    return { table: [json], json };
  },
};
