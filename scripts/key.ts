import { parseArgs } from "node:util";
import { type Scope, SCOPES } from "../src/keys.ts";
import { type Api, openApi } from "./demo/api-client.ts";
import { describeKey, type KeyRecord, listKeys, revokeKey } from "./key-list.ts";
import { describeLimits, executeLimits, limitsSql, readChange } from "./key-limits.ts";
import { addSecret, dropSecret, kidsOf, useSecret } from "./key-secrets.ts";
import { createKey } from "./stack/api-key.ts";
import { changeKeySecrets, ensureSecrets, stateFolder } from "./stack/local-state.ts";
import { readPort } from "./stack/ports.ts";
import { stackUrl } from "./stack/stack.ts";

const USAGE = `Usage: npm run --silent key -- create --account NAME [options]
       npm run --silent key -- list [--url URL]
       npm run --silent key -- revoke KEY_ID… [--url URL]
       npm run --silent key -- limits --account NAME [LIMIT=NUMBER…] [--remote]
       npm run --silent key -- secrets [add | use KID | drop KID] [--remote]

create prints an API key and nothing else. It asks nobody: the service learns of the
key when it is first used.

  --account NAME    the account; the same name is always the same account
  --scopes LIST     of read, write, admin; separated by commas (default: all three)
  --expires AGE     when the key ends: 45m, 12h, 30d, 8w (default: never)
  --remote          sign for a deployed service, with KEY_SECRETS of the environment

list and revoke ask the service for the keys of an account, with API_KEY of the
environment: one of its keys, with the scope admin.

  --url URL         of a deployed service (default: the local one, at PORT or 8787)

limits shows what an account may, and sets it: stored_bytes=5e12, or stored_bytes=default
for what every account may. It asks D1 itself, with --remote the deployed one.

secrets shows the names of the signing secrets, the one that signs first. "add" adds
one that only verifies, "use" lets it sign, "drop" ends every key that it signed. With
--remote they are those of KEY_SECRETS in the environment, and what is printed is its
new value and nothing else, for wrangler secret put.

  --help            show this

Without --remote it is about the local service, whose state is in STATE_DIR
(default .wrangler/sightline; made if missing).
`;

const SERVICE_MS = 60_000;
const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A command line that can't be understood. */
class UsageError extends Error {}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const [command, ...rest] = positionals;
  if (values.help) process.stdout.write(USAGE);
  else if (command === "create") await create(values, rest);
  else if (command === "list") await list(values, rest);
  else if (command === "revoke") await revoke(values, rest);
  else if (command === "limits") await limits(values, rest);
  else if (command === "secrets") await secrets(values, rest);
  else throw new UsageError("The commands are create, list, revoke, limits and secrets.");
}

type Values = ReturnType<typeof readArguments>["values"];

async function create(values: Values, rest: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is too much.`);
  const request = {
    account: accountOf(values),
    scopes: readScopes(values.scopes),
    expiresAt: readExpiry(values.expires),
  };
  const keySecrets = values.remote
    ? remoteSecrets()
    : (await ensureSecrets(stateFolder())).keySecrets;
  process.stdout.write(`${await createKey(keySecrets, request)}\n`);
}

/** A line a key. */
async function list(values: Values, rest: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is too much.`);
  for await (const key of listKeys(openService(values))) print(key);
}

async function revoke(values: Values, keyIds: string[]): Promise<void> {
  if (keyIds.length === 0) throw new UsageError("Which key? KEY_ID is missing: see list.");
  const api = openService(values);
  for (const keyId of keyIds) print(await revokeKey(api, keyId));
}

async function limits(values: Values, rest: string[]): Promise<void> {
  const sql = await limitsSql(
    accountOf(values),
    orUsage(() => readChange(rest)),
  );
  const own = executeLimits(sql, values.remote ? null : stateFolder());
  process.stdout.write(describeLimits(own));
}

async function secrets(values: Values, [action, kid, ...rest]: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is too much.`);
  const change = changeOf(action, kid);
  if (values.remote) {
    const changed = change(remoteSecrets());
    process.stdout.write(action === undefined ? namesOf(changed) : `${changed}\n`);
  } else {
    const changed = await changeKeySecrets(stateFolder(), change);
    process.stdout.write(namesOf(changed));
    if (action !== undefined)
      process.stderr.write("The local service takes it from its next start on.\n");
  }
}

/** What is to become of `KEY_SECRETS`; nothing, but that it is read, where no action is named. */
function changeOf(action: string | undefined, kid: string | undefined): (text: string) => string {
  if (action === undefined) return (text) => text;
  if (action === "add" && kid === undefined) return addSecret;
  if (action === "use" && kid !== undefined) return (text) => useSecret(text, kid);
  if (action === "drop" && kid !== undefined) return (text) => dropSecret(text, kid);
  throw new UsageError("secrets takes add, use KID, drop KID, or nothing.");
}

function namesOf(keySecrets: string): string {
  return kidsOf(keySecrets)
    .map((kid, i) => (i === 0 ? `${kid}  signs\n` : `${kid}\n`))
    .join("");
}

function accountOf({ account }: Values): string {
  const name = account?.trim();
  if (!name) throw new UsageError("--account NAME is missing.");
  return name;
}

function orUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function print(key: KeyRecord): void {
  process.stdout.write(`${describeKey(key)}\n`);
}

function readArguments() {
  const options = {
    account: { type: "string" },
    scopes: { type: "string" },
    expires: { type: "string" },
    remote: { type: "boolean" },
    url: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  return orUsage(() => parseArgs({ allowPositionals: true, options }));
}

function readScopes(text: string | undefined): Scope[] {
  if (text === undefined) return [...SCOPES];
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined) {
    throw new UsageError(`"${unknown}" is no scope; there are ${SCOPES.join(", ")}.`);
  }
  return SCOPES.filter((scope) => names.includes(scope));
}

function readExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const age = Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  if (!(age > 0))
    throw new UsageError(`--expires must be like 45m, 12h, 30d or 8w, not "${text}".`);
  return Date.now() + age;
}

function openService({ url = stackUrl(readPort("PORT", 8787)) }: Values): Api {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new UsageError(`--url must be like https://sightline.example.com, not "${url}".`);
  }
  const key = process.env["API_KEY"];
  if (key) return openApi(url.replace(/\/$/, ""), key, AbortSignal.timeout(SERVICE_MS));
  throw new Error("API_KEY is not set. Put a key of the account with the scope admin into it.");
}

function remoteSecrets(): string {
  const secrets = process.env["KEY_SECRETS"];
  if (secrets) return secrets;
  throw new Error(
    "KEY_SECRETS is not set. Put the value given to `wrangler secret put KEY_SECRETS` into the " +
      "environment of this command.",
  );
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  process.stderr.write(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
