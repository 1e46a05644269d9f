import { expect, it } from "vitest";
import { type Audit, readAudit } from "../../scripts/audit.ts";

const found = (severity: string) => ({
  auditReportVersion: 2,
  vulnerabilities: { hono: { name: "hono", severity, range: "<4.0.0" } },
});
const unanswered = { message: "405 Method Not Allowed", error: { summary: "", detail: "" } };

it.each<[string, string, Audit]>([
  ["no findings", JSON.stringify({ ...found("x"), vulnerabilities: {} }), { outcome: "clean" }],
  ["a moderate one", JSON.stringify(found("moderate")), { outcome: "clean" }],
  ["a high one", JSON.stringify(found("high")), findings("high")],
  ["a critical one", JSON.stringify(found("critical")), findings("critical")],
  ["a registry that refuses", JSON.stringify(unanswered), impossible("405 Method Not Allowed")],
  [
    "no registry",
    '{"error":{"summary":"getaddrinfo ENOTFOUND"}}',
    impossible("getaddrinfo ENOTFOUND"),
  ],
  ["nothing", "", impossible("npm printed nothing.")],
  ["no JSON", "npm error", impossible("npm error")],
])("an audit with %s", (_, stdout, audit) => {
  expect(readAudit(stdout)).toEqual(audit);
});

function findings(severity: string): Audit {
  return { outcome: "found", packages: [`hono <4.0.0: ${severity}`] };
}

function impossible(why: string): Audit {
  return { outcome: "impossible", why };
}
