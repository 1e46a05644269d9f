import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { newId, trustedId } from "../../src/ids.ts";
import { type KeyClaims, signKey, verifyKey } from "../../src/keys.ts";
import {
  parseSecrets,
  SIGNATURE_CHARACTERS,
  signMediaKey,
  verifyMediaToken,
} from "../../src/signed-token.ts";

const secret = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const OLD = parseSecrets(`old:${secret(1)}`);
const BOTH = parseSecrets(`new:${secret(2)},old:${secret(1)}`);
const NEW = parseSecrets(`new:${secret(2)}`);
const CLAIMS: KeyClaims = {
  keyId: newId("key"),
  accountId: trustedId("acc_7ZZZZZZZZZ0123456789ABCDEF"),
  accountName: "Ada",
  scopes: ["read", "admin"],
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

  it("carries its expiry to the millisecond", async () => {
    const expiresAt = Date.parse("9999-12-31T23:59:59.999Z");
    const key = await signKey(OLD, { ...CLAIMS, expiresAt });
    expect(await verifyKey(OLD, key)).toEqual({ ...CLAIMS, expiresAt, kid: "old" });
  });

  it.each([
    ["k1", "Ada Lovelace", "Ada Lovelace"],
    ["k1", "a".repeat(100), "a".repeat(14)],
    ["abcdefgh", "a".repeat(100), "a".repeat(9)],
    ["k1", "ééééééééé", "ééééééé"],
    ["k1", "🏖🏖🏖🏖", "🏖🏖🏖"],
  ])("signed by %s for %s has 120 characters at most", async (kid, accountName, kept) => {
    const secrets = parseSecrets(`${kid}:${secret(1)}`);
    const key = await signKey(secrets, { ...CLAIMS, accountName });
    expect(key).toMatch(/^sl_[A-Za-z0-9]{1,8}_[\w-]{95,114}$/);
    expect(key.length).toBeLessThanOrEqual(120);
    expect(await verifyKey(secrets, key)).toMatchObject({ accountName: kept });
  });

  it.each([
    ["Ada", "laptop", { accountName: "Ada", keyName: "laptop" }],
    ["Ada", "my other laptop", { accountName: "Ada", keyName: "my other l" }],
    ["Ada", "", { accountName: "Ada" }],
    ["a".repeat(13), "laptop", { accountName: "a".repeat(13) }],
  ])(
    "of %s with the name %j carries as much of it as fits",
    async (accountName, keyName, names) => {
      const secrets = parseSecrets(`k1:${secret(1)}`);
      const key = await signKey(secrets, { ...CLAIMS, accountName, keyName });
      expect(key.length).toBeLessThanOrEqual(120);
      expect(await verifyKey(secrets, key)).toEqual({ ...CLAIMS, ...names, kid: "k1" });
    },
  );

  it("fails verification if it is expired, altered or a media token", async () => {
    const expired = await signKey(OLD, { ...CLAIMS, expiresAt: Date.now() - 1000 });
    const key = await signKey(OLD, CLAIMS);
    const media = await signMediaKey(OLD, OBJECT_KEY, Date.now() + 60_000);
    const forged = [
      expired,
      key.slice("sl_".length),
      key.slice(0, -SIGNATURE_CHARACTERS),
      key.replace("sl_old_", "sl_new_"),
      media,
      `sl_${media}`,
      "",
      "sl_old_",
      "a.b.c",
    ];
    for (const token of forged) expect(await verifyKey(OLD, token)).toBeNull();
  });

  it("fails verification with any other character at any place", async () => {
    const key = await signKey(OLD, CLAIMS);
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === "A" ? "B" : "A";
      const changed = key.slice(0, i) + other + key.slice(i + 1);
      expect(await verifyKey(OLD, changed), changed).toBeNull();
    }
    for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
      if (last === key.at(-1)) continue;
      expect(await verifyKey(OLD, key.slice(0, -1) + last), last).toBeNull();
    }
  });
});

const ACCOUNT = "acc_7ZZZZZZZZZ0123456789ABCDEF";
const OBJECT_KEY = `${ACCOUNT}/${newId("ind")}/${newId("vid")}/keyframes/43200000.jpg`;

describe("a media token", () => {
  it("verifies to its object key until it expires", async () => {
    for (const objectKey of [OBJECT_KEY, `${ACCOUNT}/${newId("ind")}/${newId("img")}/source`]) {
      const token = await signMediaKey(OLD, objectKey, Date.now() + 60_000);
      expect(await verifyMediaToken(OLD, token)).toEqual({ key: objectKey, accountId: ACCOUNT });
      expect(await verifyMediaToken(NEW, token)).toBeNull();
    }
    const key = await signKey(OLD, CLAIMS);
    expect(await verifyMediaToken(OLD, key)).toBeNull();
    expect(await verifyMediaToken(OLD, key.slice("sl_".length))).toBeNull();
    const expired = await signMediaKey(OLD, OBJECT_KEY, Date.now() - 1);
    expect(await verifyMediaToken(OLD, expired)).toBeNull();
  });

  it("is only made for objects of assets", () => {
    expect(() => signMediaKey(OLD, "clips/x/y", Date.now())).toThrow();
  });
});

it.each([
  "",
  "a",
  "a:b:c",
  `a_b:${secret(1)}`,
  `abcdefghi:${secret(1)}`,
  `a:${secret(1)},a:${secret(2)}`,
  `a:${base64url.encode("short")}`,
  "a:%%%",
])("parsing the signing secrets %j throws", (text) => {
  expect(() => parseSecrets(text)).toThrow();
});
