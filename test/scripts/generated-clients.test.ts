import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { drawText } from "../../tools/sample/text-image.ts";
import { withService } from "../../tools/service.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import type { JourneyInput, JourneyResult } from "./generated-clients/journey.ts";

const FOLDER = join(import.meta.dirname, "generated-clients");
const GENERATED = join(FOLDER, "generated");
const DOCUMENT = join(PROJECT, "openapi.json");

beforeAll(() => {
  run("client", "openapi-ts", ["-i", DOCUMENT, "-o", join(GENERATED, "hey-api"), "--silent"]);
  run("client", "openapi-typescript", [DOCUMENT, "-o", join(GENERATED, "openapi-typescript.ts")]);
});
afterAll(() => rmSync(GENERATED, { recursive: true, force: true }));

/** Runs a program of a package that a workspace depends on. */
function run(workspace: string, program: string, args: string[]): void {
  execFileSync(join(PROJECT, workspace, "node_modules/.bin", program), args);
}

it("clients that two generators make of the OpenAPI document compile", () => {
  run(".", "tsc", ["-p", FOLDER]);
});

it("clients that two generators make of the OpenAPI document add, search and ask", async () => {
  const image = new File([new Uint8Array(await drawText(["Alpine notebook"]))], "notebook.png");
  const options = { log: () => {}, signal: new AbortController().signal };
  await withService(options, async ({ url, key }) => {
    for (const name of ["hey-api", "openapi-typescript"]) {
      const { runJourney } = (await import(`./generated-clients/${name}.ts`)) as {
        runJourney: (input: JourneyInput) => Promise<JourneyResult>;
      };
      const result = await runJourney({ url, apiKey: key, indexName: name, image });
      expect(result).toEqual({
        title: "notebook.png",
        states: ["ready"],
        found: [expect.stringMatching(/alpine notebook/i)],
        grounded: expect.any(Boolean),
        citedMarkers: expect.any(Array),
        issues: [["body", "top_k"]],
        queuedState: "queued",
        deletion: "queued",
      });
    }
  });
});
