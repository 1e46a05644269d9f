import { parseArgs } from "node:util";
import { type Scope, SCOPES } from "../src/keys.ts";
import { createKey } from "./stack/api-key.ts";
import { ensureSecrets, stateFolder } from "./stack/local-state.ts";

const USAGE = `Usage: npm run --silent key -- create --account NAME [options]

Prints an API key and nothing else.

  --account NAME    the account; the same name is always the same account
  --scopes LIST     of read, write, admin; separated by commas (default: all three)
  --expires AGE     when the key ends: 45m, 12h, 30d, 8w (default: never)
  --remote          sign for a deployed service, with KEY_SECRETS of the environment
  --help            show this

Without --remote the key is for the local service, whose secret is in STATE_DIR
(default .wrangler/sightline; made if missing).
`;

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A command line that can't be understood. */
class UsageError extends Error {}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  if (positionals.join(" ") !== "create") throw new UsageError('The one command is "create".');
  const account = values.account?.trim();
  if (!account) throw new UsageError("--account NAME is missing.");
  const request = {
    account,
    scopes: readScopes(values.scopes),
    expiresAt: readExpiry(values.expires),
  };
  const keySecrets = values.remote
    ? remoteSecrets()
    : (await ensureSecrets(stateFolder())).keySecrets;
  process.stdout.write(`${await createKey(keySecrets, request)}\n`);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        account: { type: "string" },
        scopes: { type: "string" },
        expires: { type: "string" },
        remote: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
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
