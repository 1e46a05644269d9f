import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { ours } from "../../src/ids.ts";
import {
  type KeyClaims,
  parseSecrets,
  signKey,
  signMediaKey,
  verifyKey,
  verifyMediaKey,
} from "../../src/keys.ts";

const secret = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const OLD = parseSecrets(`old:${secret(1)}`);
const BOTH = parseSecrets(`new:${secret(2)},old:${secret(1)}`);
const NEW = parseSecrets(`new:${secret(2)}`);
const CLAIMS: KeyClaims = {
  keyId: ours("key_1"),
  accountId: ours("acc_1"),
  accountName: "Ada",
  scopes: ["read", "write"],
  expiresAt: null,
};

describe("a key", () => {
  it("says what it was signed for, while its secret is known", async () => {
    const key = await signKey(OLD, CLAIMS);
    expect(await verifyKey(OLD, key)).toEqual({ ...CLAIMS, signedWith: "old" });
    expect(await verifyKey(BOTH, key)).toEqual({ ...CLAIMS, signedWith: "old" });
    const newer = await signKey(BOTH, CLAIMS);
    expect(await verifyKey(BOTH, newer)).toEqual({ ...CLAIMS, signedWith: "new" });
    expect(await verifyKey(NEW, key)).toBeNull();
    expect(await verifyKey(OLD, await signKey(BOTH, CLAIMS))).toBeNull();
  });

  it("is refused when it has expired, was changed, or is something else", async () => {
    const expired = await signKey(OLD, { ...CLAIMS, expiresAt: Date.now() - 1000 });
    const key = await signKey(OLD, CLAIMS);
    const [head, body, signature] = key.split(".") as [string, string, string];
    const none = base64url.encode(JSON.stringify({ alg: "none", kid: "old" }));
    const media = await signMediaKey(OLD, "a/b", Date.now() + 60_000);
    const forged = [
      expired,
      `${head}.${body}x.${signature}`,
      `${none}.${body}.`,
      media,
      "",
      "a.b.c",
    ];
    for (const token of forged) expect(await verifyKey(OLD, token)).toBeNull();
  });

  it("of media opens its object and nothing else", async () => {
    const token = await signMediaKey(OLD, "a/b", Date.now() + 60_000);
    expect(await verifyMediaKey(OLD, token)).toBe("a/b");
    expect(await verifyMediaKey(OLD, await signKey(OLD, CLAIMS))).toBeNull();
    expect(await verifyMediaKey(OLD, await signMediaKey(OLD, "a/b", Date.now() - 1))).toBeNull();
  });
});

it.each([
  "",
  "a",
  "a:b:c",
  `a:${secret(1)},a:${secret(2)}`,
  `a:${base64url.encode("short")}`,
  "a:%%%",
])("secrets are refused: %s", (text) => {
  expect(() => parseSecrets(text)).toThrow();
});
