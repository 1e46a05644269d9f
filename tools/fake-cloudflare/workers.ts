import { type Call, type Routes, type WorkerState, type WorkerUpload } from "./account.ts";
import { changeClasses, describeChange, refuseOtherClasses } from "./classes.ts";
import { Refusal } from "./refusal.ts";

/** Routes of Workers: secrets, uploads, versions and deployments. */
export const WORKER_ROUTES: Routes = [
  ["GET workers/subdomain", () => ({ subdomain: "test" })],
  ["GET workers/services/([^/]+)", describeService],
  ["GET workers/workers/([^/]+)", () => ({ subdomain: { enabled: true } })],
  ["PUT workers/scripts/([^/]+)", uploadWorker],
  ["DELETE workers/scripts/([^/]+)", deleteWorker],
  ["GET workers/scripts/([^/]+)/secrets", listSecrets],
  ["PUT workers/scripts/([^/]+)/secrets", putSecret],
  ["GET workers/scripts/([^/]+)/settings", readSettings],
  ["PATCH workers/scripts/([^/]+)/script-settings", () => ({})],
  ["POST workers/scripts/([^/]+)/assets-upload-session", () => ({ jwt: "assets", buckets: [] })],
  ["POST workers/scripts/([^/]+)/subdomain", () => ({ enabled: true })],
  ["PUT workers/scripts/([^/]+)/schedules", () => ({})],
  ["POST workers/scripts/([^/]+)/versions", uploadVersion],
  ["GET workers/scripts/([^/]+)/versions/([^/]+)", describeVersion],
  ["GET workers/scripts/([^/]+)/deployments", listDeployments],
  ["POST workers/scripts/([^/]+)/deployments", createDeployment],
];

function requireWorker({ account, params }: Call): WorkerState {
  const worker = account.workers.get(params[0] ?? "");
  if (worker) return worker;
  const code = account.unknownWorkerCode;
  throw new Refusal(404, code, "This Worker does not exist on your account.");
}

function deleteWorker(call: Call): null {
  requireWorker(call);
  call.account.workers.delete(call.params[0]!);
  return null;
}

function describeService(call: Call): object {
  const { migrationTag } = requireWorker(call);
  const script = { tag: "tag", tags: [], migration_tag: migrationTag };
  return { default_environment: { environment: "production", script } };
}

/** Uploads a version and deploys it. The secrets of an existing Worker stay. */
async function uploadWorker(call: Call): Promise<object> {
  const { account, params, body } = call;
  const name = params[0] ?? "";
  if (!account.workers.has(name)) {
    account.workers.set(name, {
      secrets: new Map(),
      versions: new Map(),
      deployments: [],
      migrationTag: undefined,
      classes: new Set(),
      hasExports: false,
    });
  }
  const worker = requireWorker(call);
  const upload = body as WorkerUpload;
  const change = changeClasses(worker, upload);
  const { id } = uploadVersion(call);
  worker.classes = change.classes;
  worker.hasExports ||= upload.exports !== undefined;
  worker.deployments.unshift(id);
  worker.migrationTag = upload.migrations?.new_tag ?? worker.migrationTag;
  await account.onDeploy(name, body);
  return {
    id: name,
    deployment_id: id,
    startup_time_ms: 1,
    ...(upload.exports && { exports_reconciliation: describeChange(change) }),
  };
}

/** Refuses a version that inherits a binding or a secret which the deployed one doesn't have. */
function uploadVersion(call: Call) {
  const { secrets, versions, deployments } = requireWorker(call);
  const { bindings = [], limits } = call.body as WorkerUpload;
  if (limits && call.account.plan === "free") {
    throw new Refusal(400, 100328, "CPU limits are not supported for the Free plan.");
  }
  const inherited = versions.get(deployments[0] ?? "")?.bindings ?? [];
  const known = new Set([...secrets.keys(), ...inherited.map(({ name }) => name)]);
  const missing = bindings.find(({ type, name }) => type === "inherit" && !known.has(name));
  if (missing) throw new Refusal(400, 10057, `The binding "${missing.name}" can't be inherited.`);
  const id = crypto.randomUUID();
  versions.set(id, call.body);
  return { id, startup_time_ms: 1, resources: { script: { etag: id } } };
}

function describeVersion(call: Call): object {
  const id = call.params[1] ?? "";
  if (!requireWorker(call).versions.has(id)) throw new Refusal(404, 10208, "Version not found");
  const metadata = { created_on: "2026-11-22T00:00:00Z", author_email: "ada@example.org" };
  return { id, number: 1, metadata, annotations: {}, resources: { bindings: [] } };
}

function listDeployments(call: Call): object {
  const deployments = requireWorker(call).deployments.map((id) => ({
    created_on: "2026-11-22T00:00:00Z",
    versions: [{ version_id: id, percentage: 100 }],
  }));
  return { deployments };
}

async function createDeployment(call: Call): Promise<object> {
  const [version] = call.body["versions"] as { version_id: string }[];
  const worker = requireWorker(call);
  const { deployments, versions } = worker;
  const id = version?.version_id ?? "";
  const { code_update_strategy } = call.body as WorkerUpload;
  const upload = { ...versions.get(id), ...(code_update_strategy && { code_update_strategy }) };
  refuseOtherClasses(worker, upload);
  deployments.unshift(id);
  await call.account.onDeploy(call.params[0] ?? "", upload);
  return { id: crypto.randomUUID() };
}

function listSecrets(call: Call): object[] {
  return [...requireWorker(call).secrets.keys()].map((name) => ({ name, type: "secret_text" }));
}

function putSecret(call: Call): object {
  const { name, text } = call.body as { name: string; text: string };
  requireWorker(call).secrets.set(name, text);
  return { name, type: "secret_text" };
}

/** Returns the settings of the deployed version. */
function readSettings(call: Call): object {
  const { versions, deployments } = requireWorker(call);
  return { bindings: [], ...versions.get(deployments[0] ?? "") };
}
