import type { Resource } from "./resources.ts";

/** What the account has of the resources that are wanted. */
export interface AccountState {
  /** Ids by name. */
  databases: ReadonlyMap<string, string>;
  /** Ids of lifecycle rules by bucket. */
  buckets: ReadonlyMap<string, readonly string[]>;
  vectorIndexes: ReadonlyMap<string, VectorIndexState>;
  queues: ReadonlySet<string>;
  /** Names of the Worker's secrets; none if there is no Worker. */
  secrets: ReadonlySet<string>;
}

export interface VectorIndexState {
  dimensions: number;
  metric: string;
  vectorCount: number;
  metadataProperties: readonly string[];
}

/** What setup does about a resource. One that differs can't be changed: `problem` says why. */
export type PlannedResource =
  | { resource: Resource; action: "create" | "present" }
  | { resource: Resource; action: "differs"; problem: string };

/** Compares the resources that are wanted with those of the account. */
export function planResources(
  resources: readonly Resource[],
  state: AccountState,
): PlannedResource[] {
  return resources.map((resource) => {
    const problem = findProblem(resource, state);
    if (problem !== null) return { resource, action: "differs", problem };
    return { resource, action: isPresent(resource, state) ? "present" : "create" };
  });
}

function isPresent(resource: Resource, state: AccountState): boolean {
  switch (resource.kind) {
    case "database":
      return state.databases.has(resource.name);
    case "bucket":
      return state.buckets.has(resource.name);
    case "lifecycle_rule":
      return state.buckets.get(resource.bucket)?.includes(resource.name) ?? false;
    case "vector_index":
      return state.vectorIndexes.has(resource.name);
    case "metadata_index": {
      const index = state.vectorIndexes.get(resource.index);
      return index?.metadataProperties.includes(resource.name) ?? false;
    }
    case "queue":
      return state.queues.has(resource.name);
    default:
      return state.secrets.has(resource.name);
  }
}

/** Returns why a present resource can't be used, or null. */
function findProblem(resource: Resource, state: AccountState): string | null {
  if (resource.kind === "vector_index") {
    const index = state.vectorIndexes.get(resource.name);
    if (!index) return null;
    if (index.dimensions === resource.dimensions && index.metric === resource.metric) return null;
    return (
      `It has ${index.dimensions} dimensions and the metric ${index.metric}, which can't be ` +
      "changed: delete it, or choose its dimensions with --image-dimensions."
    );
  }
  if (resource.kind === "metadata_index" && !isPresent(resource, state)) {
    const count = state.vectorIndexes.get(resource.index)?.vectorCount ?? 0;
    if (count === 0) return null;
    return (
      `${resource.index} has ${count} vectors, and a metadata index covers only later ones: ` +
      "delete the Vectorize index if its vectors aren't needed."
    );
  }
  return null;
}
