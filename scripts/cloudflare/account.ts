import { type CloudflareApi, CloudflareError } from "./api.ts";
import type { AccountState, VectorIndexState } from "./plan.ts";
import type { Resource } from "./resources.ts";

/** Codes of a Worker that doesn't exist: of scripts, and of services. */
const WORKER_NOT_FOUND: ReadonlySet<number> = new Set([10007, 10090]);

interface LifecycleRules {
  rules: { id: string }[];
}

/** Reads what the account has of the wanted resources. */
export async function readAccount(
  api: CloudflareApi,
  resources: readonly Resource[],
): Promise<AccountState> {
  const databases = await readDatabaseIds(api);
  const queues = await api.list<{ queue_name: string }>("queues");
  const buckets = new Map<string, string[]>();
  const secrets = new Set<string>();
  for (const resource of resources) {
    if (resource.kind === "bucket" && (await api.find(`r2/buckets/${resource.name}`))) {
      const { rules } = await readLifecycle(api, resource.name);
      buckets.set(
        resource.name,
        rules.map(({ id }) => id),
      );
    } else if (resource.kind === "secret") {
      const path = `workers/scripts/${resource.worker}/secrets`;
      for (const { name } of (await api.find<{ name: string }[]>(path)) ?? []) secrets.add(name);
    }
  }
  return {
    databases,
    buckets,
    vectorIndexes: await readVectorIndexes(api, resources),
    queues: new Set(queues.map((queue) => queue.queue_name)),
    secrets,
  };
}

/** Returns the ids of all databases of the account by name. */
export async function readDatabaseIds(api: CloudflareApi): Promise<Map<string, string>> {
  const databases = await api.list<{ name: string; uuid: string }>("d1/database");
  return new Map(databases.map(({ name, uuid }) => [name, uuid]));
}

async function readVectorIndexes(
  api: CloudflareApi,
  resources: readonly Resource[],
): Promise<Map<string, VectorIndexState>> {
  const states = new Map<string, VectorIndexState>();
  type Index = { name: string; config: { dimensions: number; metric: string } };
  for (const { name, config } of await api.list<Index>("vectorize/v2/indexes")) {
    if (!resources.some((one) => one.kind === "vector_index" && one.name === name)) continue;
    const path = `vectorize/v2/indexes/${name}`;
    const { vectorCount } = await api.get<{ vectorCount: number }>(`${path}/info`);
    const { metadataIndexes } = await api.get<{ metadataIndexes: { propertyName: string }[] }>(
      `${path}/metadata_index/list`,
    );
    const metadataProperties = metadataIndexes.map(({ propertyName }) => propertyName);
    states.set(name, { ...config, vectorCount, metadataProperties });
  }
  return states;
}

function readLifecycle(api: CloudflareApi, bucket: string): Promise<LifecycleRules> {
  return api.get<LifecycleRules>(`r2/buckets/${bucket}/lifecycle`);
}

/** Creates a resource. `secretValue` is called only for a secret. */
export async function createResource(
  api: CloudflareApi,
  resource: Resource,
  secretValue: () => Promise<string>,
): Promise<void> {
  const { name } = resource;
  switch (resource.kind) {
    case "database": {
      const hint = resource.location && { primary_location_hint: resource.location };
      await api.post("d1/database", { name, ...hint });
      break;
    }
    case "bucket": {
      const hint = resource.location && { locationHint: resource.location };
      await api.post("r2/buckets", { name, ...hint });
      break;
    }
    case "lifecycle_rule":
      await addLifecycleRule(api, resource);
      break;
    case "vector_index": {
      const { dimensions, metric } = resource;
      await api.post("vectorize/v2/indexes", { name, config: { dimensions, metric } });
      break;
    }
    case "metadata_index":
      await api.post(`vectorize/v2/indexes/${resource.index}/metadata_index/create`, {
        propertyName: name,
        indexType: "string",
      });
      break;
    case "queue":
      await api.post("queues", { queue_name: name });
      break;
    case "secret":
      await putSecret(api, resource.worker, name, await secretValue());
  }
}

type LifecycleRule = Extract<Resource, { kind: "lifecycle_rule" }>;

/** Adds a rule to those of the bucket, which the API replaces together. */
async function addLifecycleRule(api: CloudflareApi, rule: LifecycleRule): Promise<void> {
  const { rules } = await readLifecycle(api, rule.bucket);
  const condition = { type: "Age", maxAge: rule.days * 86_400 };
  const added = {
    id: rule.name,
    enabled: true,
    conditions: { prefix: rule.prefix },
    deleteObjectsTransition: { condition },
  };
  await api.put(`r2/buckets/${rule.bucket}/lifecycle`, { rules: [...rules, added] });
}

/** Puts a secret. Uploads an empty Worker first if there is none, as `wrangler secret put` does. */
async function putSecret(
  api: CloudflareApi,
  worker: string,
  name: string,
  text: string,
): Promise<void> {
  const path = `workers/scripts/${worker}`;
  const secret = { name, text, type: "secret_text" };
  try {
    await api.put(`${path}/secrets`, secret);
  } catch (error) {
    const codes = error instanceof CloudflareError ? error.codes : [];
    if (!codes.some((code) => WORKER_NOT_FOUND.has(code))) throw error;
    await api.put(path, emptyWorkerForm());
    await api.put(`${path}/secrets`, secret);
  }
}

/** Returns a sentence for each queue whose messages the Worker doesn't get. */
export async function findUnconsumedQueues(
  api: CloudflareApi,
  worker: string,
  names: readonly string[],
): Promise<string[]> {
  type Queue = { queue_name: string; consumers?: { script?: string; script_name?: string }[] };
  const queues = await api.list<Queue>("queues");
  return names.flatMap((name) => {
    const { consumers = [] } = queues.find((queue) => queue.queue_name === name) ?? {};
    const scripts = consumers.map((one) => one.script ?? one.script_name ?? "a program that pulls");
    if (scripts.includes(worker)) return [];
    const found = scripts.length === 0 ? "no consumer" : `the consumer ${scripts.join(", ")}`;
    return [`The queue ${name} has ${found}, not ${worker}: its messages are never handled.`];
  });
}

function emptyWorkerForm(): FormData {
  const form = new FormData();
  form.set("metadata", JSON.stringify({ main_module: "empty.js", bindings: [] }));
  const code = "export default { fetch() {} }";
  form.set("empty.js", new File([code], "empty.js", { type: "application/javascript+module" }));
  return form;
}

/** Lists the bindings of a deployed Worker: none if there is no Worker. */
export async function readBindings(
  api: CloudflareApi,
  worker: string,
): Promise<{ type: string; name: string }[]> {
  type Settings = { bindings: { type: string; name: string }[] };
  return (await api.find<Settings>(`workers/scripts/${worker}/settings`))?.bindings ?? [];
}

/**
 * Returns the version of a Worker that serves requests, or null. The empty Worker that setup
 * uploads doesn't count: it has no Durable Objects.
 */
export async function findLiveVersion(api: CloudflareApi, worker: string): Promise<string | null> {
  const bindings = await readBindings(api, worker);
  if (!bindings.some(({ type }) => type === "durable_object_namespace")) return null;
  type Deployments = { deployments: { versions: { version_id: string; percentage: number }[] }[] };
  const { deployments } = await api.get<Deployments>(`workers/scripts/${worker}/deployments`);
  const [latest] = deployments;
  return latest?.versions.find(({ percentage }) => percentage === 100)?.version_id ?? null;
}
