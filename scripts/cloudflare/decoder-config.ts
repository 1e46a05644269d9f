import { spawnSync } from "node:child_process";
import { containerCount, DECODER_CONTAINER } from "../../src/decoder-container.ts";

/** Part of a Wrangler configuration that the decoder's container changes. */
export interface WorkerConfig {
  main: string;
  vars: Record<string, unknown>;
  durable_objects: {
    bindings: { name: string; class_name: string }[];
    code_update_strategy?: object;
  };
  /** The classes of the Worker's objects, which Cloudflare compares with those that it has. */
  exports: Record<string, ClassExport>;
  /** Only files that an earlier version wrote have it. */
  migrations?: { tag: string }[];
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

/** A class that has objects, or one that has them no more. */
type ClassExport = { type: "durable-object" } & ({ storage: "sqlite" } | { state: "deleted" });

/** What becomes of the decoder's container: `null` removes it, `undefined` leaves it. */
export type DecoderChoice = { image: string } | "dockerfile" | null | undefined;

const CLASS = "Decoder";
/** Binding of its objects. */
export const DECODER_BINDING = { name: "DECODER", class_name: CLASS };
const OBJECTS = { type: "durable-object" } as const;
/** Entry of the Worker that exports the class. */
const MAIN = "src/with-decoder.ts";
const DOCKERFILE = "decoder/Dockerfile";

/**
 * Adds the decoder's container to the configuration of an environment, or removes it. A class that
 * was removed stays in the file: Cloudflare refuses a deployment that says nothing of a class that
 * has objects.
 */
export function withDecoder<Config extends WorkerConfig>(
  config: Config,
  current: Config | null,
  choice: DecoderChoice,
): Config {
  const before = findDecoder(current);
  const container = choice === undefined ? before : choice && toContainer(choice);
  const isRemoved = !container && (choice === null || hadDecoder(current));
  const containers = (current?.containers ?? []).filter(({ class_name: name }) => name !== CLASS);
  const bindings = [...config.durable_objects.bindings];
  if (container) {
    containers.push({
      ...container,
      instance_type: before?.instance_type ?? DECODER_CONTAINER.instanceType,
      max_instances: containerCount(String(config.vars["DECODER_INSTANCES"])),
    });
    bindings.push(DECODER_BINDING);
  }
  const changed = {
    ...config,
    main: container ? MAIN : config.main,
    durable_objects: { ...config.durable_objects, bindings },
    exports: {
      ...config.exports,
      ...(container && { [CLASS]: { ...OBJECTS, storage: "sqlite" } as const }),
      ...(isRemoved && { [CLASS]: { ...OBJECTS, state: "deleted" } as const }),
    },
    containers,
  };
  delete (changed as WorkerConfig).migrations; // Wrangler refuses them beside `exports`
  if (containers.length === 0) delete (changed as WorkerConfig).containers;
  return changed;
}

/** Returns the decoder's container in the file of an environment, or null. */
export function findDecoder(config: WorkerConfig | null): ContainerConfig | null {
  return config?.containers?.find(({ class_name: name }) => name === CLASS) ?? null;
}

/** Whether an environment without a decoder may have had one. */
function hadDecoder(config: WorkerConfig | null): boolean {
  const isTagged = config?.migrations?.some(({ tag }) => tag.startsWith("decoder-"));
  return isTagged === true || config?.exports?.[CLASS] !== undefined;
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
