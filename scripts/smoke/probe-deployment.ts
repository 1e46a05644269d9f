import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { stringify } from "smol-toml";
import { deploymentArgs, wranglerEnv } from "../../tools/stack/wrangler.ts";
import { openCloudflare } from "../cloudflare/api.ts";
import { DECODER_BINDING } from "../cloudflare/decoder-config.ts";
import { type EnvironmentConfig, readEnvironment } from "../cloudflare/environment-config.ts";
import type { Observed, ProbeResults } from "./binding-record.ts";
import type { ProbeCall } from "./bindings.ts";

/** A new address on workers.dev answers after some seconds. */
const START_MS = 3 * 60_000;
const POLL_MS = 1000;
/** Status of a path that names no observation. */
const PROBE_READY = 204;

/**
 * Deploys the probe beside the service of an environment, with the same bindings, lets `work` ask
 * it, and removes it. It answers at its address on workers.dev, or at `PROBE_URL`.
 */
export async function withProbe<Result>(
  environment: string,
  signal: AbortSignal,
  work: (ask: ProbeCall) => Promise<Result>,
): Promise<Result> {
  const { current } = await readEnvironment(process.cwd(), environment);
  if (!current) throw new Error(`There is no wrangler.${environment}.toml.`);
  const api = openCloudflare(current.account_id);
  const [name, token] = [`${current.name}-probe`, randomBytes(24).toString("base64url")];
  const file = `wrangler.${environment}-probe.toml`;
  try {
    await writeFile(file, stringify(toProbeConfig(current, name, token)));
    const env = { ...process.env, ...wranglerEnv(join(process.cwd(), ".wrangler")) };
    const args = deploymentArgs(file, "deploy");
    await promisify(execFile)(process.execPath, args, { env, signal });
    const subdomain = async () =>
      (await api.get<{ subdomain: string }>("workers/subdomain")).subdomain;
    const url = process.env["PROBE_URL"] ?? `https://${name}.${await subdomain()}.workers.dev`;
    const ask = async (path: string, file?: Uint8Array<ArrayBuffer>) =>
      fetch(`${url}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        signal,
        ...(file && { body: file }),
      });
    await untilStarted(ask);
    return await work(async (observation, parameters = {}, sample) => {
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries(parameters)) query.set(key, `${value}`);
      const response = await ask(`${observation}?${query.toString()}`, sample);
      if (response.ok) return (await response.json()) as Observed<ProbeResults[typeof observation]>;
      throw new Error(`The probe answered with ${response.status}: ${await response.text()}`);
    });
  } finally {
    await rm(file, { force: true });
    await api.delete(`workers/scripts/${name}?force=true`);
  }
}

/** Keys of the service's configuration that the probe has, too. */
const KEPT = new Set([
  "account_id",
  "compatibility_date",
  "compatibility_flags",
  "ai",
  "images",
  "media",
  "d1_databases",
  "vectorize",
]);

/** Returns a configuration with the service's bindings that the probe calls. */
function toProbeConfig(service: EnvironmentConfig, name: string, token: string): object {
  const kept = Object.entries(service).filter(([key]) => KEPT.has(key));
  const hasDecoder = service.durable_objects.bindings.some(
    (binding) => binding.name === DECODER_BINDING.name,
  );
  const decoderKey = process.env["DECODER_KEY"];
  return {
    name,
    main: join(import.meta.dirname, "probe.ts"),
    workers_dev: true,
    ...Object.fromEntries(kept),
    vars: { ...service.vars, PROBE_TOKEN: token, ...(decoderKey && { DECODER_KEY: decoderKey }) },
    ...(hasDecoder && {
      durable_objects: { bindings: [{ ...DECODER_BINDING, script_name: service.name }] },
    }),
  };
}

/** Waits until the probe answers, and takes the token. */
async function untilStarted(ask: (path: string) => Promise<Response>): Promise<void> {
  for (const start = Date.now(); ; await wait(POLL_MS)) {
    const status = await ask("").then(
      (response) => response.status,
      (error: unknown) => String(error),
    );
    if (status === PROBE_READY) return;
    if (Date.now() - start > START_MS) throw new Error(`The probe doesn't start: ${status}.`);
  }
}
