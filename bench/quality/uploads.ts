import type { Suite } from "../../tools/suite.ts";
import { resumeUpload } from "../resumed-upload.ts";

const PLAN = { megabytes: 300, cuts: 10, restarts: 2 } as const;

export const suite: Suite = {
  summary:
    `resumable upload of ${PLAN.megabytes} MB, ${PLAN.cuts} disconnects, ` +
    `${PLAN.restarts} restarts: is the file identical?`,
  async run(options) {
    const result = await resumeUpload(PLAN, options);
    const json = {
      megabytes: PLAN.megabytes,
      ...result,
      isIdentical: String(result.isIdentical),
    };
    return { table: [json], json };
  },
};
