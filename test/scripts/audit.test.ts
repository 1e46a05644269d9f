import { expect, it } from "vitest";
import { type AuditResult, parseAuditReport } from "../../scripts/audit.ts";

const makeReport = (severity: string) => ({
  auditReportVersion: 2,
  vulnerabilities: { hono: { name: "hono", severity, range: "<4.0.0" } },
});
const withoutReport = { message: "405 Method Not Allowed", error: { summary: "", detail: "" } };

it.each<[string, AuditResult, string]>([
  [
    "no findings",
    { outcome: "clean" },
    JSON.stringify({ ...makeReport("x"), vulnerabilities: {} }),
  ],
  ["a moderate finding", { outcome: "clean" }, JSON.stringify(makeReport("moderate"))],
  ["a high finding", findings("high"), JSON.stringify(makeReport("high"))],
  ["a critical finding", findings("critical"), JSON.stringify(makeReport("critical"))],
  [
    "a registry that rejects it",
    unavailable("405 Method Not Allowed"),
    JSON.stringify(withoutReport),
  ],
  [
    "an unreachable registry",
    unavailable("getaddrinfo ENOTFOUND"),
    '{"error":{"summary":"getaddrinfo ENOTFOUND"}}',
  ],
  ["no output", unavailable("npm printed nothing."), ""],
  ["output that is no JSON", unavailable("npm error"), "npm error"],
])("an npm audit with %s results in %j", (_, result, stdout) => {
  expect(parseAuditReport(stdout)).toEqual(result);
});

function findings(severity: string): AuditResult {
  return { outcome: "found", packages: [`hono <4.0.0: ${severity}`] };
}

function unavailable(reason: string): AuditResult {
  return { outcome: "unavailable", reason };
}
