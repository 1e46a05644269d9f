import { parseArgs } from "node:util";
import { type Key, Sightline } from "sightline";
import { ACCOUNT_SCOPES, type Scope, SCOPES } from "../src/keys.ts";
import { createKey } from "../tools/stack/api-key.ts";
import { changeKeySecrets, ensureSecrets, stateFolder } from "../tools/stack/local-state.ts";
import { readPort } from "../tools/stack/ports.ts";
import { stackUrl } from "../tools/stack/stack.ts";
import { runCommand, UsageError, withUsageErrors } from "./command-line.ts";
import { describeLimits, executeLimits, limitsSql, parseLimitChange } from "./key-limits.ts";
import { describeKey } from "./key-list.ts";
import { addSecret, dropSecret, listKids, useSecret } from "./key-secrets.ts";

const USAGE = `Usage: npm run --silent key -- create --account NAME [options]
       npm run --silent key -- list [--url URL]
       npm run --silent key -- revoke KEY_ID… [--url URL]
       npm run --silent key -- limits --account NAME [LIMIT=NUMBER…] [--env NAME]
       npm run --silent key -- secrets [add | use KID | drop KID] [--remote]

create prints an API key and nothing else. It contacts no server: the service records
the key when it is first used.

  --account NAME    the account; the same name is always the same account
  --name NAME       name of the key in lists, cut to about 14 bytes with the account's
                    (default: terminal)
  --scopes LIST     read, write, admin, operator, with commas (default: the first three);
                    operator reads the state of the whole deployment
  --expires AGE     lifetime of the key: 45m, 12h, 30d, 8w (default: unlimited)
  --remote          sign for a deployed service, with KEY_SECRETS from the environment

list and revoke call the service with API_KEY of the environment: a key of the account
with the scope admin.

  --url URL         URL of the service (default: the local one, at PORT or 8787)

limits shows and sets the limits of an account: stored_bytes=5e12, or stored_bytes=default
for the default. It runs on D1 itself.

  --env NAME        on the deployed D1 of wrangler.NAME.toml (default: on the local one)

secrets shows the names of the signing secrets, the one that signs first. "add" adds
one that only verifies, "use" lets it sign, "drop" invalidates every key that it signed.
With --remote it edits KEY_SECRETS of the environment and prints only the new value,
for wrangler secret put.

  --help            print this help

Without --remote or --env it uses the local service, whose state is in STATE_DIR
(default .wrangler/sightline; created if missing).
`;

const SERVICE_MS = 60_000;
const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const [command, ...rest] = positionals;
  if (values.help) process.stdout.write(USAGE);
  else if (command === "create") await runCreate(values, rest);
  else if (command === "list") await runList(values, rest);
  else if (command === "revoke") await runRevoke(values, rest);
  else if (command === "limits") await runLimits(values, rest);
  else if (command === "secrets") await runSecrets(values, rest);
  else throw new UsageError("The commands are create, list, revoke, limits and secrets.");
}

type Values = ReturnType<typeof readArguments>["values"];

async function runCreate(values: Values, rest: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is unexpected.`);
  const request = {
    account: requireAccount(values),
    name: values.name,
    scopes: readScopes(values.scopes),
    expiresAt: readExpiry(values.expires),
  };
  const keySecrets = values.remote
    ? remoteSecrets()
    : (await ensureSecrets(stateFolder())).keySecrets;
  process.stdout.write(`${await createKey(keySecrets, request)}\n`);
}

/** Prints one line per key. */
async function runList(values: Values, rest: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is unexpected.`);
  for await (const key of openService(values).keys.list({ limit: 100 })) printKey(key);
}

async function runRevoke(values: Values, keyIds: string[]): Promise<void> {
  if (keyIds.length === 0) throw new UsageError("KEY_ID is missing: see list.");
  const { keys } = openService(values);
  for (const keyId of keyIds) printKey(await keys.revoke(keyId));
}

async function runLimits(values: Values, rest: string[]): Promise<void> {
  const sql = await limitsSql(
    requireAccount(values),
    withUsageErrors(() => parseLimitChange(rest)),
  );
  if (values.remote) throw new UsageError("limits takes --env NAME in place of --remote.");
  const target =
    values.env === undefined
      ? { folder: stateFolder() }
      : { config: `wrangler.${values.env}.toml` };
  const overrides = executeLimits(sql, target);
  process.stdout.write(describeLimits(overrides));
}

async function runSecrets(values: Values, [action, kid, ...rest]: string[]): Promise<void> {
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is unexpected.`);
  const change = toSecretsChange(action, kid);
  if (values.remote) {
    const changed = change(remoteSecrets());
    process.stdout.write(action === undefined ? formatKids(changed) : `${changed}\n`);
  } else {
    const changed = await changeKeySecrets(stateFolder(), change);
    process.stdout.write(formatKids(changed));
    if (action !== undefined)
      process.stderr.write("The local service uses it from its next start on.\n");
  }
}

/** Returns the change of `KEY_SECRETS` for an action; without one, the text stays unchanged. */
function toSecretsChange(
  action: string | undefined,
  kid: string | undefined,
): (text: string) => string {
  if (action === undefined) return (text) => text;
  if (action === "add" && kid === undefined) return addSecret;
  if (action === "use" && kid !== undefined) return (text) => useSecret(text, kid);
  if (action === "drop" && kid !== undefined) return (text) => dropSecret(text, kid);
  throw new UsageError("secrets takes add, use KID, drop KID, or nothing.");
}

function formatKids(keySecrets: string): string {
  return listKids(keySecrets)
    .map((kid, i) => (i === 0 ? `${kid}  signs\n` : `${kid}\n`))
    .join("");
}

function requireAccount({ account }: Values): string {
  const name = account?.trim();
  if (!name) throw new UsageError("--account NAME is missing.");
  return name;
}

function printKey(key: Key): void {
  process.stdout.write(`${describeKey(key)}\n`);
}

function readArguments() {
  const options = {
    account: { type: "string" },
    name: { type: "string", default: "terminal" },
    scopes: { type: "string" },
    expires: { type: "string" },
    remote: { type: "boolean" },
    env: { type: "string" },
    url: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ allowPositionals: true, options }));
}

function readScopes(text: string | undefined): Scope[] {
  if (text === undefined) return [...ACCOUNT_SCOPES];
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined) {
    throw new UsageError(`"${unknown}" is not a scope. Scopes: ${SCOPES.join(", ")}.`);
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

function openService({ url = stackUrl(readPort("PORT", 8787)) }: Values): Sightline {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new UsageError(`--url must be like https://sightline.example.com, not "${url}".`);
  }
  const apiKey = process.env["API_KEY"];
  if (apiKey) return new Sightline({ url, apiKey, signal: AbortSignal.timeout(SERVICE_MS) });
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

await runCommand(main, USAGE);
