/** What a queue is for. Those that end with `-dead` get the messages that spent their retries. */
const QUEUE_ROLES = ["ingest", "ingest-dead", "jobs", "jobs-dead", "webhooks"] as const;

export type QueueRole = (typeof QUEUE_ROLES)[number];

/**
 * Returns the role at the end of a queue's name, `jobs` for `sightline-staging-jobs`. The beginning
 * is the environment's. Throws if no consumer knows the queue.
 */
export function queueRole(queue: string): QueueRole {
  // bounded: a queue's name
  const [role] = /[^-]+(-dead)?$/.exec(queue) ?? [];
  const known = QUEUE_ROLES.find((one) => one === role);
  if (known) return known;
  throw new Error(
    `No consumer knows the queue "${queue}": its name must end with ${QUEUE_ROLES.join(", ")}.`,
  );
}
