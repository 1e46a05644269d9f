import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Outcome of `npm audit`; `unavailable` if the registry doesn't answer audits. */
export type AuditResult =
  | { outcome: "clean" }
  | { outcome: "found"; packages: string[] }
  | { outcome: "unavailable"; reason: string };

const FAILING_SEVERITIES = new Set(["high", "critical"]);

interface Report {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; range: string }>;
  message?: string;
  error?: { summary?: string };
}

/** Parses the output of `npm audit --json`. */
export function parseAuditReport(stdout: string): AuditResult {
  let report: Report;
  try {
    report = JSON.parse(stdout);
  } catch {
    return { outcome: "unavailable", reason: stdout.trim() || "npm printed nothing." };
  }
  if (report.auditReportVersion === undefined || !report.vulnerabilities) {
    const reason = report.error?.summary || report.message || "npm printed no report.";
    return { outcome: "unavailable", reason };
  }
  const packages = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => FAILING_SEVERITIES.has(severity))
    .map(([name, { severity, range }]) => `${name} ${range}: ${severity}`);
  return packages.length === 0 ? { outcome: "clean" } : { outcome: "found", packages };
}

/** Audits the deployed dependencies. A registry without audits is reported but is no failure. */
function main(): void {
  const { stdout, error } = spawnSync("npm", ["audit", "--omit=dev", "--json"], {
    cwd: join(import.meta.dirname, ".."),
    encoding: "utf8",
  });
  const audit = parseAuditReport(error ? error.message : stdout);
  if (audit.outcome === "clean") console.log("Dependency audit: nothing high or critical.");
  else if (audit.outcome === "unavailable") {
    console.log(`Dependency audit: NOT DONE, the registry doesn't answer. ${audit.reason}`);
  } else {
    console.error(["Dependency audit: vulnerable packages.", ...audit.packages].join("\n  "));
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
