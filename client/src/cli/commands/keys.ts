import type { Key } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";

const SCOPES = ["read", "write", "admin"] as const;

export const keyCommands: Command[] = [
  {
    name: "keys create",
    summary: "Create an API key and print it once.",
    parameters: [{ name: "name" }],
    options: [
      {
        name: "scopes",
        value: "SCOPES",
        description: "read, write, admin, with commas (default: those of your key).",
      },
      { name: "expires", value: "DATE", description: "When the key ends, such as 2027-01-31." },
    ],
    examples: [{ line: "keys create website --scopes read", does: "A key that only reads" }],
    run: createKey,
  },
  {
    name: "keys list",
    summary: "List the API keys of the account.",
    parameters: [],
    options: [],
    examples: [{ line: "keys list", does: "With their ids, scopes and last use" }],
    run: listKeys,
  },
  {
    name: "keys revoke",
    summary: "End an API key.",
    parameters: [{ name: "key-id" }],
    options: [],
    examples: [{ line: "keys revoke key_…", does: "End a key at once" }],
    run: revokeKey,
  },
];

async function createKey({ args, client, output, signal }: CommandContext): Promise<void> {
  const scopes = args.list("scopes", SCOPES);
  const expires = args.text("expires");
  const created = await (
    await client()
  ).keys.create(
    {
      name: args.positionals[0]!,
      ...(scopes && { scopes }),
      ...(expires !== undefined && { expires_at: readDate(expires) }),
    },
    { signal },
  );
  output.json(created);
  output.line(created.api_key);
  output.note(`This is the key ${created.key_id}. Store it now: it isn't shown again.`);
}

function readDate(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`--expires must be a date, not "${text}".`);
  return new Date(time).toISOString();
}

async function listKeys({ client, output, signal }: CommandContext): Promise<void> {
  const keys: Key[] = [];
  for await (const key of (await client()).keys.list({ limit: 100 }, { signal })) keys.push(key);
  output.json({ keys, total: keys.length });
  const rows = keys.map((key) => [
    key.key_id,
    key.name ?? "",
    key.scopes.join(" "),
    stateOf(key, Date.now()),
    key.last_used_at?.slice(0, 10) ?? "never",
  ]);
  const columns = [
    { title: "key" },
    { title: "name", minWidth: 8 },
    { title: "scopes" },
    { title: "state" },
    { title: "last used" },
  ];
  output.table(columns, rows);
}

function stateOf({ revoked_at, expires_at, is_current }: Key, now: number): string {
  if (revoked_at !== null) return "revoked";
  if (expires_at !== null && Date.parse(expires_at) <= now) return "expired";
  return is_current ? "this key" : "valid";
}

async function revokeKey({ args, client, output, signal }: CommandContext): Promise<void> {
  const key = await (await client()).keys.revoke(args.positionals[0]!, { signal });
  output.json(key);
  output.line(`Revoked ${key.key_id}.`);
}
