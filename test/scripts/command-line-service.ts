import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { samplePackFolder } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { startStack } from "../../tools/stack/stack.ts";

/** What a command has printed, and its exit code. */
export interface CommandOutcome {
  stdout: string;
  stderr: string;
  status: number | null;
}

/** A file name of two hundred characters in several scripts. */
export const UGLY_NAME = `${"動画🎬 וידאו ".repeat(8)}${"x".repeat(60)}.jpg`;

/** A local service, a folder of media, and a command line with a config folder of its own. */
export interface CommandLineService {
  url: string;
  key: string;
  /** Folder for files of a test. */
  folder: string;
  /** Folder with a video, its transcript, an image with an ugly name, and a text. */
  media: string;
  /** Folder of the config file. */
  config: string;
  /** Origin that serves an image at every path, which the service may fetch. */
  filesUrl: string;
  start: (
    args: string[],
    env?: Record<string, string>,
  ) => { child: ChildProcess; ended: Promise<CommandOutcome> };
  run: (args: string[], env?: Record<string, string>) => Promise<CommandOutcome>;
  /** Runs a command with `--json`, which must succeed, and parses the lines that it prints. */
  runJson: (args: string[]) => Promise<unknown[]>;
  /** Requests a path of the service. */
  get: (path: string) => Promise<unknown>;
  stop: () => Promise<void>;
}

/** Starts the service and writes the media, from the sample pack. */
export async function startCommandLineService(): Promise<CommandLineService> {
  const folder = mkdtempSync(join(tmpdir(), "sightline-command-line-"));
  const media = join(folder, "media");
  await writeMedia(media);
  const files = createServer((_request, response) => {
    createReadStream(join(samplePackFolder(), "receipt.jpg")).pipe(response);
  }).listen(0, "127.0.0.1");
  await once(files, "listening");
  const address = files.address();
  const host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  process.env["FETCH_ALLOW"] = host;
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  const stateDir = join(folder, "state");
  const stack = await startStack({ port, enginePort, stateDir, log: () => {} });
  const key = await createKey(stack.keySecrets, { account: "Ada" });
  const settings = {
    XDG_CONFIG_HOME: join(folder, "config"),
    SIGHTLINE_URL: stack.url,
    SIGHTLINE_INDEX: "trip",
    SIGHTLINE_API_KEY: "",
    FORCE_HYPERLINK: "",
  };
  const start: CommandLineService["start"] = (args, env) =>
    startCommand(args, { ...settings, ...env });
  const run: CommandLineService["run"] = (args, env) => start(args, env).ended;
  return {
    url: stack.url,
    key,
    folder,
    media,
    config: join(folder, "config", "sightline"),
    filesUrl: `http://${host}`,
    start,
    run,
    async runJson(args) {
      const { stdout, stderr, status } = await run([...args, "--json"]);
      if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    },
    async get(path) {
      const response = await fetch(stack.url + path, { headers: { "X-API-Key": key } });
      return response.json();
    },
    async stop() {
      await stack.stop();
      files.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function writeMedia(media: string): Promise<void> {
  await buildSamplePack(samplePackFolder());
  mkdirSync(join(media, "below"), { recursive: true });
  for (const name of ["story.mp4", "story.srt"]) {
    copyFileSync(join(samplePackFolder(), name), join(media, name));
  }
  copyFileSync(join(samplePackFolder(), "poster.jpg"), join(media, "below", UGLY_NAME));
  writeFileSync(join(media, "notes.md"), "neither a video nor an image");
}

function startCommand(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ["client/src/cli/main.ts", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then((): CommandOutcome => {
    return { stdout, stderr, status: child.exitCode };
  });
  return { child, ended };
}
