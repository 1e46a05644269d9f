import type { StackPart } from "./stack.ts";

/** Line to print before anything starts. */
export const STARTING = `Starting the database, the models and the service; the first start takes about
half a minute…`;

const SENTENCES: Record<StackPart, string> = {
  database: "The database is ready.",
  models: "The models are loading.",
  service: "The service answers.",
};

/** Prints each part of a stack with the seconds that it took. */
export function reportReady(
  startedAt: number,
  print: (line: string) => void,
): (part: StackPart) => void {
  return (part) =>
    print(`  ${SENTENCES[part]} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}
