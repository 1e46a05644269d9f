import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createKeySecrets } from "../../scripts/key-secrets.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

/** Patterns of leaked credentials: our API keys, and those of services that we use. */
const KEY_PATTERNS = [
  /\bsl_[A-Za-z0-9]{1,8}_[\w-]{95,114}/, // docs/limits.md
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
const PUBLISHED_TEST_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MAX_BYTES = 1_000_000;

it("no file of the repository contains a key", () => {
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
    const text = readFileSync(join(PROJECT, file), "utf8").replaceAll(PUBLISHED_TEST_SECRET, "");
    return KEY_PATTERNS.filter((pattern) => pattern.test(text)).map(
      (pattern) => `${file}: ${pattern}`,
    );
  });
  expect(leaks).toEqual([]);
});

it("the patterns match an API key of the service", async () => {
  const key = await createKey(createKeySecrets(), { account: "x" });
  expect(KEY_PATTERNS.filter((pattern) => pattern.test(key))).toHaveLength(1);
});

/** Skips large files, which nobody writes by hand, and files that were deleted meanwhile. */
function isReadable(file: string): boolean {
  const stat = statSync(join(PROJECT, file), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < MAX_BYTES;
}
