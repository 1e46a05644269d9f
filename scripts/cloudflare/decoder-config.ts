import { spawnSync } from "node:child_process";
import { containerCount, DECODER_CONTAINER } from "../../src/decoder-container.ts";

/** Part of a Wrangler configuration that the decoder's container changes. */
export interface WorkerConfig {
  main: string;
  vars: Record<string, unknown>;
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: ClassMigration[];
  /** Only the files of environments have it. */
  containers?: ContainerConfig[];
}

interface ContainerConfig {
  class_name: string;
  /** A published image, or the path of a Dockerfile. */
  image: string;
  image_build_context?: string;
  instance_type?: unknown;
  max_instances?: number;
}

/** Migration of Durable Objects. Wrangler applies those after the last one that it applied. */
interface ClassMigration {
  tag: string;
  new_sqlite_classes?: string[];
  deleted_classes?: string[];
}

/** What becomes of the decoder's container: `null` removes it, `undefined` leaves it. */
export type DecoderChoice = { image: string } | "dockerfile" | null | undefined;

const CLASS = "Decoder";
const BINDING = { name: "DECODER", class_name: CLASS };
/** Entry of the Worker that exports the class. */
const MAIN = "src/with-decoder.ts";
const DOCKERFILE = "decoder/Dockerfile";
const TAG = /^decoder-\d+$/;

/**
 * Adds the decoder's container to the configuration of an environment, or removes it. Its migration
 * stays in the file for ever, after those that were there before: Wrangler goes by their order.
 */
export function withDecoder<Config extends WorkerConfig>(
  config: Config,
  current: Config | null,
  choice: DecoderChoice,
): Config {
  const before = findDecoder(current);
  const container = choice === undefined ? before : choice && toContainer(choice);
  const containers = (current?.containers ?? []).filter(({ class_name: name }) => name !== CLASS);
  const bindings = [...config.durable_objects.bindings];
  if (container) {
    containers.push({
      ...container,
      instance_type: before?.instance_type ?? DECODER_CONTAINER.instanceType,
      max_instances: containerCount(String(config.vars["DECODER_INSTANCES"])),
    });
    bindings.push(BINDING);
  }
  const changed = {
    ...config,
    main: container ? MAIN : config.main,
    durable_objects: { bindings },
    migrations: toMigrations(config.migrations, current?.migrations ?? [], container !== null),
    containers,
  };
  if (containers.length === 0) delete (changed as WorkerConfig).containers;
  return changed;
}

/** Returns the decoder's container in the file of an environment, or null. */
export function findDecoder(config: WorkerConfig | null): ContainerConfig | null {
  return config?.containers?.find(({ class_name: name }) => name === CLASS) ?? null;
}

/** Whether Docker must build the image of a container at each deployment. */
export function needsDocker(container: ContainerConfig | null): boolean {
  return container?.image_build_context !== undefined;
}

/** Whether a Docker engine answers, as Wrangler looks for it. */
export function hasDocker(): boolean {
  const program = process.env["WRANGLER_DOCKER_BIN"] || "docker";
  return spawnSync(program, ["info"], { stdio: "ignore" }).status === 0;
}

export const DOCKER_MISSING =
  `Docker builds ${DOCKERFILE} at each deployment, and no Docker engine answers here: start it, ` +
  "deploy on a machine that has one, or name a published image with --decoder-image.";

function toContainer(choice: { image: string } | "dockerfile"): ContainerConfig {
  return choice === "dockerfile"
    ? { class_name: CLASS, image: DOCKERFILE, image_build_context: "." }
    : { class_name: CLASS, image: choice.image };
}

/** Returns the applied migrations in their order, then new ones of the template and the decoder. */
function toMigrations(
  template: readonly ClassMigration[],
  applied: readonly ClassMigration[],
  hasDecoder: boolean,
): ClassMigration[] {
  const byTag = new Map(template.map((migration) => [migration.tag, migration]));
  const known = applied.flatMap((migration) => {
    return TAG.test(migration.tag) ? [migration] : (byTag.get(migration.tag) ?? []);
  });
  const tags = new Set(known.map(({ tag }) => tag));
  const migrations = [...known, ...template.filter(({ tag }) => !tags.has(tag))];
  const own = migrations.filter(({ tag }) => TAG.test(tag));
  const isThere = own.at(-1)?.new_sqlite_classes !== undefined;
  if (isThere === hasDecoder) return migrations;
  const tag = `decoder-${own.length + 1}`;
  const change = hasDecoder ? { new_sqlite_classes: [CLASS] } : { deleted_classes: [CLASS] };
  return [...migrations, { tag, ...change }];
}
