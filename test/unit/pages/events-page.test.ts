import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withNewSecret } from "../../../src/durable/webhook.ts";
import { webhookHeaders } from "../../../src/fetching/webhook.ts";
import { readPageBlocks } from "../../../tools/page-blocks.ts";

interface Case {
  name: string;
  headers: Record<string, string>;
  body: string;
  secret: string;
  genuine: boolean;
}

const folder = mkdtempSync(join(tmpdir(), "sightline-local-webhooks-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the page's program in a language. */
const programIn = (language: string) =>
  readPageBlocks("events.md").find((block) => block.language === language)!.code;

let cases: Case[];

beforeAll(async () => {
  const [first] = withNewSecret([], 0);
  const [second] = withNewSecret([], 0);
  const payload = '{"type":"asset.updated","data":{"title":"Zürich 🎬"}}';
  const message = { id: "evt_1", payload, secrets: [first!.secret] };
  const now = Date.now();
  const headers = await webhookHeaders(message, now);
  const event = { headers, body: payload, secret: first!.secret };
  const rotating = { ...message, secrets: [second!.secret, first!.secret] };
  const { "webhook-signature": _, ...unsigned } = headers;
  cases = [
    { ...event, name: "an event", genuine: true },
    { ...event, name: "a rotation", headers: await webhookHeaders(rotating, now), genuine: true },
    { ...event, name: "another body", body: payload.replace("updated", "deleted"), genuine: false },
    { ...event, name: "another secret", secret: second!.secret, genuine: false },
    {
      ...event,
      name: "another id",
      headers: { ...headers, "webhook-id": "evt_2" },
      genuine: false,
    },
    {
      ...event,
      name: "a malformed signature",
      headers: { ...headers, "webhook-signature": "v1,*** v1,ü v1" },
      genuine: false,
    },
    { ...event, name: "no signature", headers: unsigned, genuine: false },
    {
      ...event,
      name: "an old event",
      headers: await webhookHeaders(message, now - 301_000),
      genuine: false,
    },
  ];
});

const verdicts = (values: boolean[]) => cases.map(({ name }, i) => ({ name, genuine: values[i] }));
const expected = () => cases.map(({ name, genuine }) => ({ name, genuine }));

it("the TypeScript program on the page of events accepts genuine events only", async () => {
  const file = join(folder, "verify.ts");
  writeFileSync(file, programIn("ts"));
  const { isGenuine } = await import(file);
  const values = await Promise.all(
    cases.map(({ headers, body, secret }) => isGenuine(new Headers(headers), body, secret)),
  );
  expect(verdicts(values)).toEqual(expected());
});

/** Runs a command that reads the cases as JSON and prints a JSON list of its verdicts. */
function judge(command: string, args: string[]): boolean[] {
  const input = JSON.stringify(cases);
  const { stdout, stderr } = spawnSync(command, args, { input, cwd: folder, encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

const exists = (command: string, arg: string) => spawnSync(command, [arg]).status === 0;

if (exists("python3", "--version")) {
  it("the Python program on the page of events accepts genuine events only", () => {
    const main = `
import json, sys
print(json.dumps([is_genuine(c["headers"], c["body"].encode(), c["secret"]) for c in json.load(sys.stdin)]))
`;
    writeFileSync(join(folder, "verify.py"), programIn("python") + main);
    expect(verdicts(judge("python3", ["verify.py"]))).toEqual(expected());
  });
}

const GO_MAIN = `package main

import ("encoding/json"; "net/http"; "os")

func main() {
	var cases []struct { Headers map[string]string; Body, Secret string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	verdicts := []bool{}
	for _, c := range cases {
		headers := http.Header{}
		for name, value := range c.Headers { headers.Set(name, value) }
		verdicts = append(verdicts, IsGenuine(headers, []byte(c.Body), c.Secret))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`;

if (exists("go", "version")) {
  it("the Go program on the page of events accepts genuine events only", () => {
    writeFileSync(join(folder, "verify.go"), programIn("go"));
    writeFileSync(join(folder, "main.go"), GO_MAIN);
    expect(verdicts(judge("go", ["run", "verify.go", "main.go"]))).toEqual(expected());
  });
}
