import { beforeAll, describe, expect, it } from "vitest";
import type { Client, Json } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { connect } from "../support/mcp-client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

/** Settings of a deployment: its text model is the one of src/config.ts. */
const DEPLOYED = { TEXT_EMBEDDINGS_MODEL: "" };

let client: Client;

beforeAll(async () => {
  ({ client } = await createSampleIndex());
});

/** Sends a request to a deployment with other embedding models. */
async function send(method: string, path: string, json?: object): Promise<Json> {
  const body = json && JSON.stringify(json);
  const headers = { "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body }) };
  return (await fetchDeployed(DEPLOYED, client.key, path, init)).json();
}

describe("calibration", () => {
  it("is `fitted` for indices, searches and queued searches with the offline models", async () => {
    const { index } = await client.json("GET", "/index/trip");
    expect(index.calibration).toBe("fitted");
    const { indices } = await client.json("GET", "/index");
    expect(indices[0].calibration).toBe("fitted");
    const json = { query: "goats" };
    const path = "/index/trip/search";
    expect((await client.json("POST", path, { json })).calibration).toBe("fitted");
    const queued = await client.json("POST", path, { json: { ...json, queue_job: true } });
    expect(queued.calibration).toBe("fitted");
    const { result } = await client.waitForJob(queued.job_id);
    expect(result.calibration).toBe("fitted");
  });

  it("is `borrowed` with models that nothing was fitted on, whose scores are the same", async () => {
    expect((await send("GET", "/index/trip")).index.calibration).toBe("borrowed");
    const json = { query: "goats" };
    const { calibration, segments } = await send("POST", "/index/trip/search", json);
    expect(calibration).toBe("borrowed");
    const fitted = await client.json("POST", "/index/trip/search", { json });
    const scoresOf = (hits: Json[]) => hits.map(({ score }) => score);
    expect(scoresOf(segments)).toEqual(scoresOf(fitted.segments));
  });

  it("is named in the results of the MCP tool", async () => {
    const mcp = await connect(client);
    const args = { index_name: "trip", query: "goats" };
    const result: Json = await mcp.callTool({ name: "search", arguments: args });
    expect(result.structuredContent.calibration).toBe("fitted");
    expect(result.content[0].text).toContain('"calibration":"fitted"');
    await mcp.close();
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "search", arguments: args },
    };
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    const init = { method: "POST", headers, body: JSON.stringify(call) };
    const response = await fetchDeployed(DEPLOYED, client.key, "/mcp", init);
    expect(await response.text()).toContain(String.raw`\"calibration\":\"borrowed\"`);
  });
});
