import { expect, it } from "vitest";
import {
  readEnvironment,
  toEnvironmentConfig,
} from "../../scripts/cloudflare/environment-config.ts";
import { type AccountState, planResources } from "../../scripts/cloudflare/plan.ts";
import { listResources, type Resource } from "../../scripts/cloudflare/resources.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

const EMPTY: AccountState = {
  databases: new Map(),
  buckets: new Map(),
  vectorIndexes: new Map(),
  queues: new Set(),
  secrets: new Set(),
};
const INDEX = { dimensions: 768, metric: "cosine", vectorCount: 0, metadataProperties: ["kind"] };
const FULL: AccountState = {
  databases: new Map([["a", "id"]]),
  buckets: new Map([["a", ["clips"]]]),
  vectorIndexes: new Map([["a", INDEX]]),
  queues: new Set(["a"]),
  secrets: new Set(["KEY_SECRETS"]),
};
const withIndex = (change: Partial<typeof INDEX>): AccountState => ({
  ...FULL,
  vectorIndexes: new Map([["a", { ...INDEX, ...change }]]),
});

const database: Resource = { kind: "database", name: "a", location: null };
const bucket: Resource = { kind: "bucket", name: "a", location: null };
const clips: Resource = {
  kind: "lifecycle_rule",
  bucket: "a",
  name: "clips",
  prefix: "clips/",
  days: 1,
};
const index: Resource = { kind: "vector_index", name: "a", dimensions: 768, metric: "cosine" };
const kind: Resource = { kind: "metadata_index", index: "a", name: "kind" };
const queue: Resource = { kind: "queue", name: "a" };
const secret: Resource = { kind: "secret", worker: "a", name: "KEY_SECRETS" };

it.each([
  [database, "b"],
  [bucket, "b"],
  [clips, "uploads"],
  [index, "b"],
  [kind, "asset_id"],
  [queue, "b"],
  [secret, "OTHER"],
])("plans to create %o only if the account lacks it", (resource, otherName) => {
  const actionFor = (wanted: Resource, state: AccountState) =>
    planResources([wanted], state)[0]?.action;
  expect(actionFor(resource, EMPTY)).toBe("create");
  expect(actionFor(resource, FULL)).toBe("present");
  expect(actionFor({ ...resource, name: otherName }, FULL)).toBe("create");
});

it.each([
  [index, withIndex({ dimensions: 1024 }), "It has 1024 dimensions and the metric cosine"],
  [index, withIndex({ metric: "euclidean" }), "It has 768 dimensions and the metric euclidean"],
  [kind, withIndex({ metadataProperties: [], vectorCount: 7 }), "a has 7 vectors"],
])("reports that %o differs, with a sentence", (resource, state, problem) => {
  expect(planResources([resource], state)).toEqual([
    { resource, action: "differs", problem: expect.stringContaining(problem) },
  ]);
});

const TEMPLATE = {
  name: "media",
  main: "src/index.ts",
  vars: { RATE: "1" },
  secrets: { required: [] },
  d1_databases: [{ database_name: "media", database_id: "0" }],
  r2_buckets: [{ bucket_name: "media-files" }],
  vectorize: [{ binding: "TEXT_VECTORS_2", index_name: "media-text-2" }],
  queues: {
    producers: [{ queue: "media-jobs" }],
    consumers: [{ queue: "media-jobs", dead_letter_queue: "media-jobs-dead" }],
  },
  ratelimits: [{ name: "LIMIT", namespace_id: "1001" }],
  durable_objects: { bindings: [] },
  exports: {},
};
const FILES = { environment: "test", folder: "", file: "", template: TEMPLATE, current: null };

it("an environment's name comes after the Worker's in each resource name", () => {
  const config = toEnvironmentConfig(FILES, "account", new Map([["media-test", "uuid"]]));
  expect(config).toMatchObject({
    name: "media-test",
    account_id: "account",
    d1_databases: [{ database_name: "media-test", database_id: "uuid" }],
    r2_buckets: [{ bucket_name: "media-test-files" }],
    vectorize: [{ index_name: "media-test-text-2" }],
    queues: {
      producers: [{ queue: "media-test-jobs" }],
      consumers: [{ queue: "media-test-jobs", dead_letter_queue: "media-test-jobs-dead" }],
    },
  });
  expect(config.ratelimits[0]?.namespace_id).toMatch(/^\d+1001$/);
  const other = toEnvironmentConfig({ ...FILES, environment: "other" }, "account", new Map());
  expect(other.ratelimits).not.toEqual(config.ratelimits);
});

it("refuses a resource name that an environment's name can't be put into", () => {
  const template = { ...TEMPLATE, r2_buckets: [{ bucket_name: "files" }] };
  expect(() => toEnvironmentConfig({ ...FILES, template }, "account", new Map())).toThrow(
    'must start with "media-"',
  );
});

it("a second Vectorize pair gets the dimensions of its kind", () => {
  const vectorize = [
    { binding: "TEXT_VECTORS_2", index_name: "text" },
    { binding: "IMAGE_VECTORS_2", index_name: "image" },
  ];
  const options = { location: null, imageDimensions: 768 };
  const resources = listResources({ ...TEMPLATE, vectorize }, options);
  const dimensions = resources.flatMap((one) =>
    one.kind === "vector_index" ? [one.dimensions] : [],
  );
  expect(dimensions).toEqual([1024, 768]);
  expect(() =>
    listResources({ ...TEMPLATE, vectorize: [{ binding: "OTHER", index_name: "a" }] }, options),
  ).toThrow('"OTHER" is neither');
});

it.each(["production", "staging", "ingest", "jobs", "dead", "webhooks"])(
  "every queue of the environment %s has a consumer",
  async (environment) => {
    const files = await readEnvironment(PROJECT, environment);
    const config = toEnvironmentConfig(files, "account", new Map());
    const resources = listResources(config, { location: null, imageDimensions: 1024 });
    expect(resources.filter(({ kind: one }) => one === "queue")).toHaveLength(5);
  },
);

it("refuses a queue that no consumer knows, by its name", () => {
  const queues = { ...TEMPLATE.queues, producers: [{ queue: "media-mail" }] };
  const options = { location: null, imageDimensions: 768 };
  expect(() => listResources({ ...TEMPLATE, queues }, options)).toThrow('queue "media-mail"');
});
