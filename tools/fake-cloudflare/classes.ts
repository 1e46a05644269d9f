import type { WorkerState, WorkerUpload } from "./account.ts";
import { Refusal } from "./refusal.ts";

const RECONCILIATION_FAILED = 100402;
const CLASS_NOT_CONFIGURED = 10061;
const CLASS_EXISTS = 10074;

/** What a deployment changes of the classes that have objects. */
interface ClassChange {
  /** Classes that have objects afterwards. */
  classes: ReadonlySet<string>;
  created: string[];
  deleted: string[];
  /** Classes that were deleted before. */
  stale: string[];
}

/**
 * Returns what a deployment changes, as its `exports` or its tags say. Refuses what Cloudflare
 * does:
 * https://developers.cloudflare.com/durable-objects/reference/durable-objects-migrations/
 */
export function changeClasses(worker: WorkerState, upload: WorkerUpload): ClassChange {
  const isDeclared = upload.exports !== undefined || worker.hasExports;
  const change = isDeclared ? reconcile(worker, upload) : applySteps(worker, upload);
  for (const { type, class_name: name = "" } of upload.bindings ?? []) {
    if (type !== "durable_object_namespace" || change.classes.has(name)) continue;
    const message = `Cannot create binding for class '${name}' that has no Durable Objects.`;
    throw new Refusal(400, CLASS_NOT_CONFIGURED, message);
  }
  return change;
}

/** Refuses a version that has other classes: a rollback changes the code only. */
export function refuseOtherClasses(worker: WorkerState, version: WorkerUpload): void {
  if (!worker.hasExports) return;
  const { created, deleted } = reconcile(worker, version);
  if (created.length + deleted.length === 0) return;
  throw new Refusal(400, RECONCILIATION_FAILED, "A rollback can't cross a change of classes.");
}

/** Returns what Wrangler prints of a change. */
export function describeChange({ created, deleted, stale }: ClassChange): object {
  return {
    created,
    updated: [],
    deleted,
    renamed: [],
    transferred: [],
    transfer_pending: [],
    warnings: [],
    info: stale.map((name) => ({
      class: name,
      scenario: "stale_tombstone",
      message: `Tombstone of type 'deleted' for class '${name}' has no effect.`,
    })),
    removable_entries: stale,
  };
}

function applySteps({ classes }: WorkerState, { migrations }: WorkerUpload): ClassChange {
  const changed = new Set(classes);
  for (const step of migrations?.steps ?? []) {
    for (const name of step.new_sqlite_classes ?? []) {
      if (changed.has(name)) {
        throw new Refusal(400, CLASS_EXISTS, `The class '${name}' already has Durable Objects.`);
      }
      changed.add(name);
    }
    for (const name of step.deleted_classes ?? []) changed.delete(name);
  }
  return { classes: changed, created: [], deleted: [], stale: [] };
}

/** Compares what a version declares with its code, and with the classes that have objects. */
function reconcile({ classes }: WorkerState, upload: WorkerUpload): ClassChange {
  const code = new Set(upload.exportedNames);
  const declared = Object.entries(upload.exports ?? {});
  const live = declared.filter(([, { state }]) => state !== "deleted").map(([name]) => name);
  const tombstones = declared.filter(([, { state }]) => state === "deleted").map(([name]) => name);
  const details = [
    ...[...classes].flatMap((name) => {
      if (declared.some(([other]) => other === name)) return [];
      return code.has(name)
        ? [problem("provisioned_class_missing_from_config", name)]
        : [problem("orphaned_provisioned_namespace", name)];
    }),
    ...live.flatMap((name) => (code.has(name) ? [] : [problem("config_export_not_in_code", name)])),
    ...tombstones.flatMap((name) =>
      code.has(name) ? [problem("tombstone_delete_class_still_in_code", name)] : [],
    ),
  ];
  if (details.length > 0) {
    const reason = details.map(({ scenario, class: name }) => `${scenario}: ${name}`).join("; ");
    throw new Refusal(400, RECONCILIATION_FAILED, reason, details);
  }
  return {
    classes: new Set(live),
    created: live.filter((name) => !classes.has(name)),
    deleted: tombstones.filter((name) => classes.has(name)),
    stale: tombstones.filter((name) => !classes.has(name)),
  };
}

function problem(scenario: string, name: string) {
  return { scenario, class: name, message: `The class '${name}' can't be deployed so.` };
}
