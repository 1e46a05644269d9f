import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildSamplePack } from "../tools/sample/pack.ts";
import { createKey } from "../tools/stack/api-key.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { findFreePort } from "../tools/stack/ports.ts";
import { startStack, stackUrl } from "../tools/stack/stack.ts";

const PAGE = join(PROJECT, "docs/command-line.md");
const FILES = ["story.mp4", "story.srt", "poster.jpg", "receipt.jpg", "nagasaki.jpg"];
/** Command lines after `sightline`; `media` is a folder with `FILES`. */
const COMMANDS = [
  ["login", "--key", "$KEY"],
  ["add", "media", "--index", "trip", "--create"],
  ["add", "media", "--index", "trip"],
  ["index", "list"],
  ["search", "glacier", "--index", "trip", "--top-k", "3"],
  ["search", "--image", "media/poster.jpg", "--index", "trip", "--top-k", "1"],
  ["ask", "Who constructed the cabin?", "--index", "trip"],
  ["ask", "What colour is the cabin?", "--index", "trip"],
  ["export", "edl", "glacier", "--index", "trip", "--top-k", "1"],
  ["stats"],
  ["search", "glacier", "--index", "nowhere"],
];
/** The session on the page, which is replaced. */
const SESSION = /(?<=^## A session$[^`]*`npm run record-cli`\.\n\n)```\n.*?^```$/ms;

/** Runs the commands against a new local service and writes the page with what they print. */
async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-session-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const stateDir = join(folder, "state");
  const log = (line: string) => console.error(line);
  const stack = await startStack({ port, enginePort, stateDir, log, signal: onInterrupt() });
  try {
    const pack = await buildSamplePack();
    await mkdir(join(folder, "media"));
    for (const file of FILES) await cp(join(pack.folder, file), join(folder, "media", file));
    const key = await createKey(stack.keySecrets, { account: "local" });
    const config = join(folder, "config");
    const env = { XDG_CONFIG_HOME: config, SIGHTLINE_URL: stack.url, SIGHTLINE_API_KEY: "" };
    let session = "";
    for (const words of COMMANDS) {
      const args = words.map((word) => (word === "$KEY" ? key : word));
      const line = words.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ");
      console.error(`sightline ${line}`);
      session += `$ sightline ${line}\n${await run(args, folder, env)}\n`;
    }
    const text = session
      .replaceAll(stack.url, stackUrl(8787))
      .replaceAll(config, "~/.config")
      .replaceAll(folder, basename(folder))
      .replaceAll("\r\n", "\n")
      .trimEnd();
    const page = await readFile(PAGE, "utf8");
    await writeFile(
      PAGE,
      page.replace(SESSION, () => `\`\`\`\n${text}\n\`\`\``),
    );
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a command line and returns what it prints on both streams. */
async function run(args: string[], cwd: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(PROJECT, "client/src/cli/main.ts"), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  await once(child, "close");
  return text;
}

await main();
