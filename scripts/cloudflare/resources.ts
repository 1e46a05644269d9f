import { MODELS } from "../../src/config.ts";
import { queueRole } from "../../src/queues/queue-role.ts";
import type { EnvironmentConfig } from "./environment-config.ts";

export const LOCATIONS = ["weur", "eeur", "apac", "oc", "wnam", "enam"] as const;
export type Location = (typeof LOCATIONS)[number];

/** Something that the account must have before the Worker is deployed. */
export type Resource =
  | { kind: "database"; name: string; location: Location | null }
  | { kind: "bucket"; name: string; location: Location | null }
  | { kind: "lifecycle_rule"; bucket: string; name: string; prefix: string; days: number }
  | { kind: "vector_index"; name: string; dimensions: number; metric: "cosine" }
  | { kind: "metadata_index"; index: string; name: string }
  | { kind: "queue"; name: string }
  | { kind: "secret"; worker: string; name: string };

export interface ResourceOptions {
  /** Location of the database and the buckets; null lets Cloudflare choose. */
  location: Location | null;
  imageDimensions: number;
}

/** Rules that delete what a request left behind: query clips and resumable uploads. */
const LIFECYCLE_RULES = [
  { name: "clips", prefix: "clips/", days: 1 },
  { name: "uploads", prefix: "uploads/", days: 8 },
];
/** Metadata properties that searches filter by. */
const METADATA_PROPERTIES = ["asset_id", "asset_type", "kind"];

/** Lists the resources of a configuration in the order in which they are created. */
export function listResources(config: EnvironmentConfig, options: ResourceOptions): Resource[] {
  const { location } = options;
  return [
    ...config.d1_databases.map(({ database_name: name }): Resource => ({
      kind: "database",
      name,
      location,
    })),
    ...config.r2_buckets.flatMap(({ bucket_name: bucket }): Resource[] => [
      { kind: "bucket", name: bucket, location },
      ...LIFECYCLE_RULES.map(({ name, prefix, days }): Resource => ({
        kind: "lifecycle_rule",
        bucket,
        name,
        prefix,
        days,
      })),
    ]),
    ...config.vectorize.flatMap(({ binding, index_name: index }): Resource[] => [
      {
        kind: "vector_index",
        name: index,
        dimensions: vectorDimensions(binding, options.imageDimensions),
        metric: "cosine",
      },
      ...METADATA_PROPERTIES.map((name) => ({ kind: "metadata_index" as const, index, name })),
    ]),
    ...listQueues(config).map((name): Resource => ({ kind: "queue", name })),
    ...config.secrets.required.map((name): Resource => ({
      kind: "secret",
      worker: config.name,
      name,
    })),
  ];
}

function vectorDimensions(binding: string, imageDimensions: number): number {
  if (/^TEXT_VECTORS_\d+$/.test(binding)) return MODELS.embedText.dimensions;
  if (/^IMAGE_VECTORS_\d+$/.test(binding)) return imageDimensions;
  throw new Error(`The binding "${binding}" is neither TEXT_VECTORS_N nor IMAGE_VECTORS_N.`);
}

/** Lists the queues of a configuration. Throws if the Worker has no consumer for one. */
function listQueues({ queues }: EnvironmentConfig): string[] {
  const consumed = queues.consumers.flatMap(({ queue, dead_letter_queue: dead }) =>
    dead === undefined ? [queue] : [queue, dead],
  );
  const names = [...new Set([...queues.producers.map(({ queue }) => queue), ...consumed])];
  for (const name of names) queueRole(name);
  return names;
}

/** Describes a resource in a few words, for a line of the plan. */
export function describeResource(resource: Resource): string {
  const { name } = resource;
  switch (resource.kind) {
    case "database":
      return `D1 database ${name}${describeLocation(resource.location)}`;
    case "bucket":
      return `R2 bucket ${name}${describeLocation(resource.location)}`;
    case "lifecycle_rule": {
      const age = resource.days === 1 ? "1 day" : `${resource.days} days`;
      return `R2 lifecycle rule ${name} of ${resource.bucket}: ${resource.prefix} for ${age}`;
    }
    case "vector_index":
      return `Vectorize index ${name}, ${resource.dimensions} dimensions, ${resource.metric}`;
    case "metadata_index":
      return `Vectorize metadata index ${name} of ${resource.index}`;
    case "queue":
      return `queue ${name}`;
    default:
      return `secret ${name} of the Worker ${resource.worker}`;
  }
}

function describeLocation(location: Location | null): string {
  return location === null ? "" : ` in ${location}`;
}
