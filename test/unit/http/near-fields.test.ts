import { expect, it } from "vitest";
import { unknownFieldIssues } from "../../../src/http/near-names.ts";
import * as z from "../../../src/http/zod.ts";

const body = z.object({
  query: z.string(),
  top_k: z.int().default(10),
  none: z.array(z.string()).optional(),
  modes: z.array(z.string()).optional(),
  filter: z.record(z.string(), z.unknown()).default({}),
  settings: z.object({ webhook_url: z.string().optional() }).nullable().optional(),
});

it.each([
  ["filters", "filter"],
  ["topk", "top_k"],
  ["topK", "top_k"],
  ["top-k", "top_k"],
  ["mode", "modes"],
  ["Query", "query"],
  ["qurey", "query"],
  ["queries", "query"],
  ["q", "query"],
  ["limit", "top_k"],
  ["maxResults", "top_k"],
  ["where", "filter"],
  ["asset_type", "modes"],
])("the field %s is refused as %s", (name, known) => {
  expect(unknownFieldIssues(body, { query: "x", [name]: 1 })).toEqual([
    {
      loc: ["body", name],
      type: "extra_forbidden",
      msg: `There is no field "${name}" here: did you mean "${known}"?`,
    },
  ]);
});

it.each(["user_id", "name", "temperature", "page", "", "x".repeat(10_000)])(
  "the unknown field %j is ignored",
  (name) => {
    expect(unknownFieldIssues(body, { query: "x", [name]: 1 })).toEqual([]);
  },
);

it("a field of an object in the body is compared, one of a free object isn't", () => {
  const sent = { query: "x", settings: { webhook: 1, webhookUrl: 2 }, filter: { filters: 1 } };
  expect(unknownFieldIssues(body, sent).map(({ loc }) => loc)).toEqual([
    ["body", "settings", "webhook"],
    ["body", "settings", "webhookUrl"],
  ]);
  expect(unknownFieldIssues(body, { query: "x", settings: null })).toEqual([]);
});

it("no more than fifty unknown fields are compared", () => {
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`filter${i % 10}${i}`, 1]),
  );
  expect(unknownFieldIssues(body, many).length).toBeLessThanOrEqual(50);
});

it.each([
  [{ webhook_url: 1 }, 'it belongs in "settings"'],
  [{ search: { query: "x" } }, 'send "query" at this level, not in it'],
])("of the fields %j the place is said", (sent, hint) => {
  const [name] = Object.keys(sent);
  const msg = `There is no field "${name}" here: ${hint}`;
  const type = "extra_forbidden";
  expect(unknownFieldIssues(body, sent)).toEqual([{ loc: ["body", name], type, msg }]);
});
