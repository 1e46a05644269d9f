import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROJECT } from "../../scripts/stack/local-state.ts";

/** What keys look like that get into repositories: ours, and those of what the service uses. */
const LOOKS_LIKE_A_KEY = [
  /\beyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}/, // a JWT
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{35}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
  /\bwhsec_[A-Za-z0-9+/]{32,}={0,2}/,
  /\bKEY_SECRETS\s*=\s*["']?[\w-]+:[\w-]{43}/,
  /\b(?:CLOUDFLARE_API_TOKEN|API_KEY|TOKEN)\s*=\s*["']?[\w-]{32,}/,
];
/** The test vector of Standard Webhooks. */
const PUBLISHED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MOST_BYTES = 1_000_000;

it("nothing in the repository looks like a key", () => {
  const listed = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    {
      cwd: PROJECT,
      encoding: "utf8",
    },
  );
  const files = listed.split("\0").filter((file) => file !== "" && isReadable(file));
  expect(files.length).toBeGreaterThan(100);
  const leaks = files.flatMap((file) => {
    const text = readFileSync(join(PROJECT, file), "utf8").replaceAll(PUBLISHED, "");
    return LOOKS_LIKE_A_KEY.filter((pattern) => pattern.test(text)).map((at) => `${file}: ${at}`);
  });
  expect(leaks).toEqual([]);
});

it("a key of ours would be found", () => {
  const parts = ["eyJhbGciOiJIUzI1NiIsImtpZCI6InQifQ", "eyJzdWIiOiJhY2NfMSIsImp0aSI6ImtleSJ9"];
  const key = [...parts, "A".repeat(43)].join(".");
  expect(LOOKS_LIKE_A_KEY.some((pattern) => pattern.test(key))).toBe(true);
});

/** Large files are none that a person wrote; one that was deleted meanwhile is no leak. */
function isReadable(file: string): boolean {
  const stat = statSync(join(PROJECT, file), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < MOST_BYTES;
}
