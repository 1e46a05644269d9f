import { lookAtPage } from "../care/imports.ts";
import { AGAIN, type Run } from "./run.ts";

/** Brings in what a source lists, a page at a time. */
export const runImportJob: Run = async (env, job, progressed) => {
  const looked = await lookAtPage(env, job);
  if (looked.isWhole) return looked.result;
  await progressed(looked.share);
  return AGAIN;
};
