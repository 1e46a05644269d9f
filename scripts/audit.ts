import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What `npm audit` found; `impossible` where the registry doesn't answer audits, with why. */
export type Audit =
  | { outcome: "clean" }
  | { outcome: "found"; packages: string[] }
  | { outcome: "impossible"; why: string };

const BAD = new Set(["high", "critical"]);

interface Report {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; range: string }>;
  message?: string;
  error?: { summary?: string };
}

/** Reads what `npm audit --json` prints. */
export function readAudit(stdout: string): Audit {
  let report: Report;
  try {
    report = JSON.parse(stdout);
  } catch {
    return { outcome: "impossible", why: stdout.trim() || "npm printed nothing." };
  }
  if (report.auditReportVersion === undefined || !report.vulnerabilities) {
    const why = report.error?.summary || report.message || "npm printed no report.";
    return { outcome: "impossible", why };
  }
  const packages = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => BAD.has(severity))
    .map(([name, { severity, range }]) => `${name} ${range}: ${severity}`);
  return packages.length === 0 ? { outcome: "clean" } : { outcome: "found", packages };
}

/** Of what is deployed. A registry that can't be asked is told, and isn't a failure. */
function main(): void {
  const { stdout, error } = spawnSync("npm", ["audit", "--omit=dev", "--json"], {
    cwd: join(import.meta.dirname, ".."),
    encoding: "utf8",
  });
  const audit = readAudit(error ? error.message : stdout);
  if (audit.outcome === "clean") console.log("Dependency audit: nothing high or critical.");
  else if (audit.outcome === "impossible") {
    console.log(`Dependency audit: NOT DONE, the registry doesn't answer. ${audit.why}`);
  } else {
    console.error(["Dependency audit: vulnerable packages.", ...audit.packages].join("\n  "));
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
