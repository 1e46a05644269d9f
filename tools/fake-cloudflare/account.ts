import { type D1Database, type OpenDatabase, openInMemory } from "./d1-database.ts";
import { Refusal } from "./refusal.ts";

export interface WorkerUpload {
  main_module?: string;
  bindings?: { type: string; name: string; class_name?: string }[];
  migrations?: { new_tag?: string; steps?: ClassMigration[] };
  exports?: Record<string, ClassExport>;
  /** When running objects get the new code. */
  code_update_strategy?: { mode: string };
  /** Names that the main module exports. */
  exportedNames?: string[];
  limits?: object;
  /** SHA-256 of each module, in hexadecimal digits. */
  modules?: Record<string, string>;
}

/** A step of the lifecycle of classes of objects, by tag. */
interface ClassMigration {
  new_sqlite_classes?: string[];
  deleted_classes?: string[];
}

/** What a Worker declares of a class of objects. */
interface ClassExport {
  type: string;
  state?: "created" | "deleted";
}

export interface WorkerState {
  secrets: Map<string, string>;
  /** Uploads by version id. */
  versions: Map<string, WorkerUpload>;
  /** Ids of the versions that were deployed, the latest first. */
  deployments: string[];
  migrationTag: string | undefined;
  /** Classes that have objects. */
  classes: ReadonlySet<string>;
  /** Whether a version declared its classes by `exports`: from then on, each must. */
  hasExports: boolean;
}

interface VectorIndex {
  name: string;
  config: { dimensions: number; metric: string };
  vectorCount: number;
  metadataIndexes: { propertyName: string; indexType: string }[];
}

interface Bucket {
  name: string;
  location: string | null;
  rules: { id: string }[];
}

/** The content of an account. */
export class CloudflareAccount {
  /** Databases by name. */
  readonly databases = new Map<string, D1Database>();
  readonly buckets = new Map<string, Bucket>();
  readonly vectorIndexes = new Map<string, VectorIndex>();
  readonly queues = new Map<
    string,
    { queue_id: string; queue_name: string; consumers: { consumer_id: string; script?: string }[] }
  >();
  readonly workers = new Map<string, WorkerState>();
  /** Models of Workers AI by id: what each answers to an input. */
  readonly models = new Map<string, (input: Record<string, unknown>) => unknown>();
  readonly openDatabase: OpenDatabase;
  plan: "free" | "paid" = "paid";
  /** Code of the refusal of an unknown Worker, which differs by route: 10007 or 10090. */
  unknownWorkerCode = 10007;
  /** Gets each upload that is deployed, before the API answers. */
  onDeploy: (worker: string, upload: WorkerUpload) => Promise<void> = async () => {};

  constructor(openDatabase: OpenDatabase = openInMemory) {
    this.openDatabase = openDatabase;
  }

  /** Returns a database by the id that the environment's file has. */
  findDatabase(id: string): D1Database | undefined {
    return [...this.databases.values()].find(({ uuid }) => uuid === id);
  }
}

/** A list that is returned in pages. */
export class Page {
  readonly items: unknown[];

  constructor(items: Iterable<unknown>) {
    this.items = [...items];
  }
}

export interface Call {
  account: CloudflareAccount;
  /** URL of the server, without a path. */
  origin: string;
  /** Groups of the route's pattern. */
  params: string[];
  query: URLSearchParams;
  body: Record<string, unknown>;
}

/** Handlers by method and path below the account. */
export type Routes = readonly (readonly [route: string, handler: (call: Call) => unknown])[];

export const RESOURCE_ROUTES: Routes = [
  ["GET r2/buckets/([^/]+)", ({ account, params }) => requireBucket(account, params[0])],
  ["POST r2/buckets", createBucket],
  ["GET r2/buckets/(.+)/lifecycle", readLifecycle],
  ["PUT r2/buckets/(.+)/lifecycle", putLifecycle],
  ["GET vectorize/v2/indexes", ({ account }) => [...account.vectorIndexes.values()]],
  ["POST vectorize/v2/indexes", createVectorIndex],
  ["GET vectorize/v2/indexes/(.+)/info", readVectorIndex],
  ["GET vectorize/v2/indexes/(.+)/metadata_index/list", readVectorIndex],
  ["POST vectorize/v2/indexes/(.+)/metadata_index/create", createMetadataIndex],
  ["GET queues", listQueues],
  ["POST queues", createQueue],
  ["POST queues/(.+)/consumers", createConsumer],
  ["PUT queues/(.+)/consumers/(.+)", replaceConsumer],
  ["POST ai/run/(.+)", runModel],
];

function runModel({ account, params, body }: Call): unknown {
  const run = account.models.get(params[0] ?? "");
  if (run) return run(body);
  throw new Refusal(400, 5007, `No such model ${params[0]} or task`);
}

function requireBucket(account: CloudflareAccount, name = ""): Bucket {
  const bucket = account.buckets.get(name);
  if (bucket) return bucket;
  throw new Refusal(404, 10006, "The specified bucket does not exist.");
}

function createBucket({ account, body }: Call): object {
  const name = String(body["name"]);
  if (account.buckets.has(name)) throw new Refusal(409, 10004, "The bucket already exists.");
  const location = (body["locationHint"] ?? null) as string | null;
  account.buckets.set(name, { name, location, rules: [{ id: "Default Multipart Abort Rule" }] });
  return {};
}

function readLifecycle({ account, params }: Call): object {
  return { rules: requireBucket(account, params[0]).rules };
}

function putLifecycle({ account, params, body }: Call): object {
  requireBucket(account, params[0]).rules = body["rules"] as { id: string }[];
  return {};
}

function readVectorIndex({ account, params }: Call): VectorIndex {
  const index = account.vectorIndexes.get(params[0] ?? "");
  if (index) return index;
  throw new Refusal(404, 3000, "vectorize.index_not_found");
}

function createVectorIndex({ account, body }: Call): object {
  const { name, config } = body as unknown as VectorIndex;
  if (account.vectorIndexes.has(name)) {
    throw new Refusal(409, 3002, "vectorize.index.duplicate_name");
  }
  const index = { name, config, vectorCount: 0, metadataIndexes: [] };
  account.vectorIndexes.set(name, index);
  return index;
}

function createMetadataIndex(call: Call): object {
  const { metadataIndexes } = readVectorIndex(call);
  const added = call.body as unknown as VectorIndex["metadataIndexes"][number];
  if (metadataIndexes.some(({ propertyName }) => propertyName === added.propertyName)) {
    throw new Refusal(409, 3003, "vectorize.metadata_index.duplicate");
  }
  metadataIndexes.push(added);
  return { mutationId: crypto.randomUUID() };
}

function listQueues({ account, query }: Call): unknown {
  const names = query.getAll("name");
  const queues = [...account.queues.values()];
  if (names.length === 0) return new Page(queues);
  return queues.filter(({ queue_name: name }) => names.includes(name));
}

function createQueue({ account, body }: Call): object {
  const name = String(body["queue_name"]);
  if (account.queues.has(name)) throw new Refusal(409, 11009, "Queue name already in use");
  const queue = { queue_id: crypto.randomUUID(), queue_name: name, consumers: [] };
  account.queues.set(name, queue);
  return queue;
}

function createConsumer({ account, params, body }: Call): object {
  const script = String(body["script_name"]);
  const consumer = { consumer_id: crypto.randomUUID(), ...body, script };
  findQueue(account, params[0]).consumers.push(consumer);
  return consumer;
}

function replaceConsumer({ account, params, body }: Call): object {
  const { consumers } = findQueue(account, params[0]);
  const at = consumers.findIndex(({ consumer_id: id }) => id === params[1]);
  if (at < 0) throw new Refusal(404, 11004, "Consumer not found");
  consumers[at] = Object.assign(consumers[at]!, body, { script: body["script_name"] });
  return consumers[at];
}

function findQueue({ queues }: CloudflareAccount, queueId: string | undefined) {
  const queue = [...queues.values()].find(({ queue_id: id }) => id === queueId);
  if (!queue) throw new Refusal(404, 11000, "Queue not found");
  return queue;
}
