import { expect, it } from "vitest";
import { queueRole } from "../../../src/queues/queue-role.ts";

it.each([
  ["sightline-ingest", "ingest"],
  ["sightline-staging-ingest", "ingest"],
  ["sightline-staging-ingest-dead", "ingest-dead"],
  ["sightline-ingest-jobs", "jobs"],
  ["sightline-dead-jobs", "jobs"],
  ["sightline-dead-jobs-dead", "jobs-dead"],
  ["media-webhooks", "webhooks"],
])("the queue %s has the role %s", (queue, role) => {
  expect(queueRole(queue)).toBe(role);
});

it.each(["sightline-mail", "sightline-webhooks-dead", "sightline-ingest-2", "dead", ""])(
  'the queue "%s" has no consumer, which an error with its name says',
  (queue) => {
    expect(() => queueRole(queue)).toThrow(`No consumer knows the queue "${queue}"`);
  },
);
