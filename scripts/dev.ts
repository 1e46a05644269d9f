import { parseArgs } from "node:util";
import { modelsFolder } from "../local/engine/installed-models.ts";
import { commandLine } from "../local/engine/packages.ts";
import { SCOPES } from "../src/keys.ts";
import { createKey, signInLink } from "../tools/stack/api-key.ts";
import { listMissingCapabilities } from "../tools/stack/engine-health.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { stateFolder } from "../tools/stack/local-state.ts";
import { readPort } from "../tools/stack/ports.ts";
import { ANY_BODY_BYTES, DEFAULT_MAX_BODY_BYTES, startStack } from "../tools/stack/stack.ts";
import { reportReady, STARTING } from "../tools/stack/start-report.ts";
import { wrapText } from "../tools/terminal.ts";

const USAGE = `Usage: ${commandLine("dev")}

Runs the whole service on this machine until Ctrl-C. Needs no account and no internet.

Environment:
  PORT          port of the service on 127.0.0.1 (default 8787)
  ENGINE_PORT   port of the offline engine on 127.0.0.1 (default 8788)
  STATE_DIR     databases, objects, secrets and logs (now ${stateFolder()})
  FETCH_ALLOW   host:port, several separated by commas: private addresses that video_url,
                image_url and webhook_url may name nevertheless, such as 127.0.0.1:9000
                for a receiver of webhooks on this machine (default none)
  MAX_BODY_MB   largest request body, which Cloudflare's plans limit: 100 (Free, Pro; the
                default), 200 (Business), 500 (Enterprise); 0 for any. Larger files can
                be uploaded in parts: docs/uploads.md
  PEERTUBE_URL, YOUTUBE_API_KEY, COBALT_URL, INSTAGRAM_TOKEN, …
                settings of platforms: docs/deploy.md#settings
  MODELS_DIR    folder of the models of \`${commandLine("models")}\`
                (now ${modelsFolder()})
  LOCAL_LLM_URL, LOCAL_LLM_MODEL, LOCAL_LLM_KEY
                an OpenAI-compatible server for captions and chat, such as
                http://127.0.0.1:11434/v1; its model (default: the first that it
                lists) and its key (default none)
  POCKETSPHINX  program that recognises speech if no model does (default
                pocketsphinx_batch, if it is installed); empty for none
`;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: "boolean", short: "h" } } });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  console.log(STARTING);
  const startedAt = Date.now();
  const interrupted = onInterrupt();
  const stack = await startStack({
    port: readPort("PORT", 8787),
    enginePort: readPort("ENGINE_PORT", 8788),
    stateDir: stateFolder(),
    maxBodyBytes: readMaxBodyBytes(),
    servesSources: true,
    log: (line) => console.error(line),
    onReady: reportReady(startedAt, (line) => console.log(line)),
    onWorkerLine: (line) => {
      if (!/^\d{3} GET \/health /.test(line)) console.log(line);
    },
    signal: interrupted,
  });
  const key = await createKey(stack.keySecrets, {
    account: "local",
    name: "dev",
    scopes: [...SCOPES],
  });
  const missing = await listMissingCapabilities(stack.engineUrl);
  console.log(formatGreeting(stack.url, key, (Date.now() - startedAt) / 1000, missing));
  const interruption = new Promise<null>((resolve) => {
    if (interrupted.aborted) resolve(null);
    interrupted.addEventListener("abort", () => resolve(null));
  });
  const exitMessage = await Promise.race([interruption, stack.ended]);
  await stack.stop();
  if (exitMessage !== null) throw new Error(exitMessage);
}

/** Returns the limit in `MAX_BODY_MB` in bytes. */
function readMaxBodyBytes(): number {
  const text = process.env["MAX_BODY_MB"];
  if (!text) return DEFAULT_MAX_BODY_BYTES;
  if (!/^\d{1,6}$/.test(text)) throw new Error(`MAX_BODY_MB must be a number, not "${text}".`);
  return text === "0" ? ANY_BODY_BYTES : Number(text) * 1e6;
}

function formatGreeting(url: string, key: string, seconds: number, missing: string[]): string {
  return `
Sightline runs at ${url} (started in ${seconds.toFixed(1)} s). Ctrl-C stops it.

Open the console, signed in:

${signInLink(url, key)}

API key of the account "local", with every scope:

export KEY=${key}

Create an index and list it:

curl -X POST -H "X-API-Key: $KEY" "${url}/index?index_name=first"
curl -H "X-API-Key: $KEY" ${url}/index
${missing.length > 0 ? `\nMissing capabilities of this machine:\n\n${missing.map((line) => wrapText(line, "  ")).join("\n")}\n` : ""}`;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error && error.name === "AbortError")) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
