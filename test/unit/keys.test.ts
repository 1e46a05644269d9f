import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { trustedId } from "../../src/ids.ts";
import {
  type KeyClaims,
  parseSecrets,
  signKey,
  signMediaKey,
  verifyKey,
  verifyMediaToken,
} from "../../src/keys.ts";

const secret = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const OLD = parseSecrets(`old:${secret(1)}`);
const BOTH = parseSecrets(`new:${secret(2)},old:${secret(1)}`);
const NEW = parseSecrets(`new:${secret(2)}`);
const CLAIMS: KeyClaims = {
  keyId: trustedId("key_1"),
  accountId: trustedId("acc_1"),
  accountName: "Ada",
  scopes: ["read", "write"],
  expiresAt: null,
};

describe("an API key", () => {
  it("verifies to its claims while its signing secret is known", async () => {
    const key = await signKey(OLD, CLAIMS);
    expect(await verifyKey(OLD, key)).toEqual({ ...CLAIMS, kid: "old" });
    expect(await verifyKey(BOTH, key)).toEqual({ ...CLAIMS, kid: "old" });
    const newer = await signKey(BOTH, CLAIMS);
    expect(await verifyKey(BOTH, newer)).toEqual({ ...CLAIMS, kid: "new" });
    expect(await verifyKey(NEW, key)).toBeNull();
    expect(await verifyKey(OLD, await signKey(BOTH, CLAIMS))).toBeNull();
  });

  it("fails verification if it is expired, altered or a media token", async () => {
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

  it("for media verifies to its object key until it expires", async () => {
    const token = await signMediaKey(OLD, "a/b", Date.now() + 60_000);
    expect(await verifyMediaToken(OLD, token)).toEqual({ key: "a/b", accountId: "a" });
    expect(await verifyMediaToken(OLD, await signKey(OLD, CLAIMS))).toBeNull();
    expect(await verifyMediaToken(OLD, await signMediaKey(OLD, "a/b", Date.now() - 1))).toBeNull();
  });
});

it.each([
  "",
  "a",
  "a:b:c",
  `a:${secret(1)},a:${secret(2)}`,
  `a:${base64url.encode("short")}`,
  "a:%%%",
])("parsing the signing secrets %j throws", (text) => {
  expect(() => parseSecrets(text)).toThrow();
});
