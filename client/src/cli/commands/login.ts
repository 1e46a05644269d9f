import { Sightline } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { DEFAULT_URL, deleteLogin, normalizeUrl, readLogin, writeLogin } from "../config.ts";
import { promptLine } from "../prompt.ts";
import { sanitizeLine } from "../sanitize.ts";

export const loginCommands: Command[] = [
  {
    name: "login",
    summary: "Check an API key and store it for later commands.",
    details:
      "Asks for the URL and the key if they aren't given; the key isn't shown. The key is stored in " +
      "$XDG_CONFIG_HOME/sightline/config.json, which only you may read, and only sent to this URL. " +
      "SIGHTLINE_URL and SIGHTLINE_API_KEY win over the file.",
    parameters: [],
    options: [{ name: "key", value: "KEY", description: "The API key; other users may see it." }],
    examples: [
      { line: "login", does: "Ask for the URL and the key" },
      { line: 'login --url https://sightline.example --key "$KEY"', does: "In a script" },
    ],
    run: login,
  },
  {
    name: "logout",
    summary: "Delete the stored API key from this computer.",
    parameters: [],
    options: [],
    examples: [{ line: "logout", does: "Forget the key; it remains valid" }],
    run: logout,
  },
  {
    name: "whoami",
    summary: "Print the account, the scopes of the key and the URL.",
    parameters: [],
    options: [],
    examples: [{ line: "whoami", does: "Check that the key is accepted" }],
    run: whoami,
  },
];

async function login(context: CommandContext): Promise<void> {
  const { args, env, output, signal } = context;
  const stored = await readLogin(env).catch(nullIfInvalid);
  const url = args.text("url") ?? env["SIGHTLINE_URL"] ?? (await promptUrl(stored?.url, signal));
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new UsageError(`"${url}" must be a URL such as ${DEFAULT_URL}.`);
  }
  const apiKey = args.text("key") || env["SIGHTLINE_API_KEY"] || (await promptKey(signal));
  const credentials = { url: normalizeUrl(url), apiKey };
  if (isUnencrypted(url)) output.note("Note: http sends the key unencrypted. Use https.");
  const account = await new Sightline(credentials).init({}, { signal });
  const file = await writeLogin(env, { url: credentials.url, api_key: apiKey });
  const scopes = account.scopes.join(", ");
  output.line(
    `Logged in as ${sanitizeLine(account.name)} at ${credentials.url}, scopes ${scopes}.`,
  );
  output.line(`The key is stored in ${file}.`);
  output.json({ url: credentials.url, ...account });
}

function promptUrl(stored: string | undefined, signal: AbortSignal): Promise<string> {
  const preset = stored ?? DEFAULT_URL;
  if (!process.stdin.isTTY) return Promise.resolve(preset);
  const otherwise = "Give the URL with --url.";
  return promptLine(`URL [${preset}]: `, { otherwise }, signal).then((text) => text || preset);
}

async function promptKey(signal: AbortSignal): Promise<string> {
  const otherwise = "Give the key with --key KEY, or set SIGHTLINE_API_KEY.";
  const key = await promptLine("API key: ", { isHidden: true, otherwise }, signal);
  if (key === "") throw new UsageError("The API key is empty.");
  return key;
}

function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(hostname);
}

async function logout({ env, output }: CommandContext): Promise<void> {
  const stored = await readLogin(env).catch(nullIfInvalid);
  await deleteLogin(env);
  output.line(stored ? `Deleted the key of ${stored.url}.` : "No key was stored.");
  output.line("The key remains valid: `sightline keys revoke` ends it.");
  output.json({ url: stored?.url ?? null });
}

async function whoami({ client, serviceUrl, output, signal }: CommandContext): Promise<void> {
  const account = await (await client()).init({}, { signal });
  const url = await serviceUrl();
  output.line(`${sanitizeLine(account.name)} (${account.account_id}) at ${url}`);
  output.line(`Scopes: ${account.scopes.join(", ")}`);
  output.json({ url, ...account });
}

/** Makes null of a login file that can't be read: it is replaced or deleted. */
function nullIfInvalid(): null {
  return null;
}
