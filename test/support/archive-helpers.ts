import { env, exports } from "cloudflare:workers";
import { expect, inject } from "vitest";
import { MODELS } from "../../src/config.ts";
import type { IndexId } from "../../src/ids.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, type Json, newClient } from "./client.ts";

/** Exports the index `from`. Returns its lines. */
export async function exportLines(client: Client, query = ""): Promise<Json[]> {
  const response = await client.send("GET", `/index/from/export${query}`);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

const isAsset = ({ kind }: Json) => kind === "asset";
export const idsOf = (lines: Json[]) => lines.filter(isAsset).map(({ record }) => record.asset_id);

/** Copies the files of a line to the file server, as its deployment would serve them. */
export async function hostFiles(line: Json): Promise<Json> {
  if (!isAsset(line)) return line;
  const files = await Promise.all(
    line.files.map(async ({ path, url }: Json) => {
      const response = await exports.default.fetch(url);
      expect(response.status).toBe(200);
      return { path, url: await hostBytes(await response.arrayBuffer()) };
    }),
  );
  return { ...line, files };
}

/** Puts bytes on the file server, and returns their URL. */
export async function hostBytes(body: BodyInit): Promise<string> {
  const url = `${inject("filesOrigin")}/archived-${crypto.randomUUID()}`;
  await fetch(url, { method: "PUT", body });
  return url;
}

export const toBody = (lines: Json[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** Creates an account with an empty index. */
export async function createTarget(index = "to"): Promise<Client> {
  const client = await newClient();
  await client.json("POST", "/index", { json: { index_name: index } });
  return client;
}

/** Returns the id of the only index of an account. */
export async function indexIdOf(client: Client): Promise<IndexId> {
  const { account_id } = await client.json("POST", "/init");
  const select = "SELECT index_id FROM indices WHERE account_id = ?";
  return (await env.DB.prepare(select).bind(account_id).first<IndexId>("index_id"))!;
}

/** Lists the objects of lines that are being imported. */
export const listLineKeys = async (client: Client) =>
  (await env.MEDIA.list({ prefix: `clips/${await indexIdOf(client)}` })).objects;

/** Imports lines while no model describes or transcribes anything. Returns the job. */
export async function importLines(client: Client, lines: Json[], index = "to"): Promise<Json> {
  const costly = [MODELS.describe.id, MODELS.transcribe.id];
  for (const model of costly) await localAi().inject(model, "5007", 100);
  const path = `/index/${index}/import-archive`;
  const { job_id } = await client.json("POST", path, { body: toBody(lines) });
  const { state, error, result } = await client.waitForJob(job_id);
  for (const model of costly) await localAi().clearFaults(model);
  return { state, error, result };
}

/** Lists the assets of an index with their segments and findings. */
export const nodesOf = async (client: Client, index: string): Promise<Json[]> =>
  (await client.json("GET", `/index/${index}/traverse`)).nodes;
