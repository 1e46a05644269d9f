import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "smol-toml";
import { type DecoderChoice, type WorkerConfig, withDecoder } from "./decoder-config.ts";

const TEMPLATE = "wrangler.toml";

/** Part of a Wrangler configuration that an environment changes, and that setup reads. */
export interface EnvironmentConfig extends WorkerConfig {
  name: string;
  account_id?: string;
  secrets: { required: string[] };
  d1_databases: { database_name: string; database_id: string }[];
  r2_buckets: { bucket_name: string }[];
  vectorize: { binding: string; index_name: string }[];
  queues: {
    producers: { queue: string }[];
    consumers: { queue: string; dead_letter_queue?: string }[];
  };
  ratelimits: { name: string; namespace_id: string }[];
}

/** The configuration of an environment beside the template that it is made from. */
export interface EnvironmentFiles {
  environment: string;
  folder: string;
  /** Name of the environment's file, `wrangler.staging.toml` for staging. */
  file: string;
  template: EnvironmentConfig;
  /** Null before the first setup. */
  current: EnvironmentConfig | null;
}

/** Reads the configuration files in `folder`. Throws if the environment's name is invalid. */
export async function readEnvironment(
  folder: string,
  environment: string,
): Promise<EnvironmentFiles> {
  if (!/^[a-z][a-z0-9]{0,15}$/.test(environment)) {
    throw new Error(
      `--env must be 1 to 16 lowercase letters and digits, such as staging, not "${environment}".`,
    );
  }
  const file = `wrangler.${environment}.toml`;
  const template = parseConfig(await readFile(join(folder, TEMPLATE), "utf8"));
  let current: EnvironmentConfig | null = null;
  try {
    current = parseConfig(await readFile(join(folder, file), "utf8"));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  return { environment, folder, file, template, current };
}

function parseConfig(text: string): EnvironmentConfig {
  return parse(text) as unknown as EnvironmentConfig;
}

/**
 * Makes the configuration of an environment. The names of its resources start with the Worker's
 * name and the environment. Settings of the current file stay: variables, rate limits, and keys
 * that the template doesn't have. `databaseIds` has the ids of databases by name. The decoder's
 * container is added, removed or left.
 */
export function toEnvironmentConfig(
  { environment, template, current }: EnvironmentFiles,
  accountId: string,
  databaseIds: ReadonlyMap<string, string>,
  decoder?: DecoderChoice,
): EnvironmentConfig {
  const rename = (name: string): string => renameResource(name, template.name, environment);
  const config = {
    ...current,
    ...template,
    name: rename(template.name),
    account_id: accountId,
    vars: { ...template.vars, ...current?.vars },
    d1_databases: template.d1_databases.map((database) => {
      const name = rename(database.database_name);
      const id = databaseIds.get(name) ?? database.database_id;
      return { ...database, database_name: name, database_id: id };
    }),
    r2_buckets: template.r2_buckets.map((bucket) => ({
      ...bucket,
      bucket_name: rename(bucket.bucket_name),
    })),
    vectorize: template.vectorize.map((index) => ({
      ...index,
      index_name: rename(index.index_name),
    })),
    queues: {
      producers: template.queues.producers.map((producer) => ({
        ...producer,
        queue: rename(producer.queue),
      })),
      consumers: template.queues.consumers.map(({ dead_letter_queue: dead, ...consumer }) => ({
        ...consumer,
        queue: rename(consumer.queue),
        ...(dead !== undefined && { dead_letter_queue: rename(dead) }),
      })),
    },
    ratelimits: template.ratelimits.map(
      (limit) =>
        current?.ratelimits.find(({ name }) => name === limit.name) ?? {
          ...limit,
          namespace_id: namespaceId(environment, limit.namespace_id),
        },
    ),
  };
  return withDecoder(config, current, decoder);
}

/** Returns the ids of the databases in a configuration by name. */
export function databaseIdsOf(config: EnvironmentConfig): Map<string, string> {
  return new Map(config.d1_databases.map((one) => [one.database_name, one.database_id]));
}

/** Returns true if the environment's file has what the template and the account say. */
export function isCurrent(files: EnvironmentFiles, wanted: EnvironmentConfig): boolean {
  return isDeepStrictEqual(normalize(files.current), normalize(wanted));
}

/** Returns plain objects: the parser's have no prototype. */
function normalize(config: EnvironmentConfig | null): unknown {
  return JSON.parse(JSON.stringify(config));
}

/** Writes the environment's file, with a comment that says what may be edited. */
export async function writeEnvironment(
  { environment, folder, file }: EnvironmentFiles,
  config: EnvironmentConfig,
): Promise<void> {
  const text = `# Made from ${TEMPLATE} by: npm run setup -- --env ${environment}
# Edit [vars] and [[ratelimits]] here, and add keys that ${TEMPLATE} doesn't have, such as routes.
# Change anything else in ${TEMPLATE}, and run setup again.
${stringify(config)}`;
  await writeFile(join(folder, file), text);
}

/** Puts the environment after the Worker's name: sightline-media → sightline-staging-media. */
function renameResource(name: string, worker: string, environment: string): string {
  if (name !== worker && !name.startsWith(`${worker}-`)) {
    throw new Error(`The name "${name}" in ${TEMPLATE} must start with "${worker}-".`);
  }
  return `${worker}-${environment}${name.slice(worker.length)}`;
}

/** Returns a number for a rate limit that another environment of the account doesn't have. */
function namespaceId(environment: string, templateId: string): string {
  const hash = createHash("sha256").update(environment).digest().readUInt32BE();
  return String((1 + (hash % 200_000)) * 10_000 + Number(templateId));
}
