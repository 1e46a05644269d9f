import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { type PhotoServer, startPhotoServer } from "../../bench/photo-server.ts";
import type { Hit, SearchResult } from "../../client/src/index.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { createKey } from "../../tools/stack/api-key.ts";
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
  /** A platform with a profile of three photos, from which the service may fetch. */
  photos: PhotoServer;
  start: (
    args: string[],
    env?: Record<string, string>,
  ) => { child: ChildProcess; ended: Promise<CommandOutcome> };
  run: (args: string[], env?: Record<string, string>) => Promise<CommandOutcome>;
  /** Runs a command with `--json`, which must succeed, and parses the lines that it prints. */
  runJson: (args: string[]) => Promise<unknown[]>;
  /** Searches with `--json`. */
  search: (...args: string[]) => Promise<Hit[]>;
  /** Requests a path of the service. */
  get: (path: string) => Promise<unknown>;
  stop: () => Promise<void>;
}

/** Starts the service and writes the media, from the sample pack. */
export async function startCommandLineService(): Promise<CommandLineService> {
  const folder = mkdtempSync(join(tmpdir(), "sightline-command-line-"));
  const media = join(folder, "media");
  await writeMedia(media);
  const photos = await startPhotoServer(3);
  vi.stubEnv("FETCH_ALLOW", photos.host);
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
  const runJson: CommandLineService["runJson"] = async (args) => {
    const { stdout, stderr, status } = await run([...args, "--json"]);
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  return {
    url: stack.url,
    key,
    folder,
    media,
    config: join(folder, "config", "sightline"),
    photos,
    start,
    run,
    runJson,
    async search(...args) {
      const [result] = (await runJson(["search", ...args])) as SearchResult[];
      return result!.segments;
    },
    async get(path) {
      const response = await fetch(stack.url + path, { headers: { "X-API-Key": key } });
      return response.json();
    },
    async stop() {
      await stack.stop();
      await photos.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function writeMedia(media: string): Promise<void> {
  const pack = await buildSamplePack();
  mkdirSync(join(media, "below"), { recursive: true });
  for (const name of ["story.mp4", "story.srt"]) {
    copyFileSync(join(pack.folder, name), join(media, name));
  }
  copyFileSync(join(pack.folder, "poster.jpg"), join(media, "below", UGLY_NAME));
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
