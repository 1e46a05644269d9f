import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type Copy,
  DockerfileParser,
  type Instruction,
  type JSONInstruction,
} from "dockerfile-ast";
import { PROJECT } from "../../tools/stack/local-state.ts";

/** What an image runs. */
export interface BuiltImage {
  /** Path of the script that its CMD runs. */
  script: string;
  env: Record<string, string>;
}

/** A stage of a build: its root is a folder. */
interface Stage {
  root: string;
  workFolder: string;
  env: Record<string, string>;
}

/**
 * Follows a Dockerfile in `folder`, without Docker: each stage is a folder, and Node is this
 * machine's. `npm ci` copies the locked packages, and no other, from those of the project.
 */
export async function buildImage(dockerfile: string, folder: string): Promise<BuiltImage> {
  const text = await readFile(join(PROJECT, dockerfile), "utf8");
  const stages = new Map<string, Stage>();
  let stage: Stage = { root: folder, workFolder: "/", env: {} };
  let script = "";
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const values = instruction.getArguments().map((argument) => argument.getValue());
    switch (instruction.getKeyword()) {
      case "FROM": {
        const name = values[2] ?? String(stages.size);
        stage = { root: join(folder, name), workFolder: "/", env: {} };
        stages.set(name, stage);
        break;
      }
      case "WORKDIR":
        stage.workFolder = values[0]!;
        await mkdir(pathIn(stage, "."), { recursive: true });
        break;
      case "COPY":
        await copy(instruction as Copy, values, stage, stages);
        break;
      case "RUN":
        if (values[0] === "npm") await installLocked(pathIn(stage, "."));
        else runNode(stringsOf(instruction), stage);
        break;
      case "ENV":
        for (const [name, value] of values.map((pair) => pair.split("="))) {
          stage.env[name!] = value!;
        }
        break;
      case "CMD":
        script = pathIn(stage, stringsOf(instruction)[1]!);
    }
  }
  return { script, env: stage.env };
}

function stringsOf(instruction: Instruction): string[] {
  return (instruction as JSONInstruction).getJSONStrings().map((string) => string.getJSONValue());
}

/** Returns where a path of a stage is on this machine. */
function pathIn({ root, workFolder }: Stage, path: string): string {
  return path.startsWith("/") ? join(root, path) : join(root, workFolder, path);
}

async function copy(
  instruction: Copy,
  values: string[],
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
): Promise<void> {
  const from = instruction.getFlags().find((flag) => flag.getName() === "from");
  const target = pathIn(stage, values.at(-1)!);
  for (const source of values.slice(0, -1)) {
    const path = from ? pathIn(stages.get(from.getValue()!)!, source) : join(PROJECT, source);
    const isFolder = (await stat(path)).isDirectory();
    await cp(path, isFolder ? target : join(target, basename(source)), { recursive: true });
  }
}

function runNode([program, ...args]: string[], stage: Stage): void {
  if (program !== "node") throw new Error(`RUN ${program} can't be followed without Docker.`);
  const paths = args.map((arg) => (arg.startsWith("/") ? pathIn(stage, arg) : arg));
  execFileSync(process.execPath, paths, { cwd: pathIn(stage, "."), env: stage.env });
}

/** Copies what a lockfile lists. A package that this platform needs must be there. */
async function installLocked(folder: string): Promise<void> {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    await readFile(join(folder, "package-lock.json"), "utf8"),
  );
  for (const [path, { version, optional }] of Object.entries(lock.packages)) {
    const source = join(PROJECT, path);
    if (path === "" || (optional && !existsSync(source))) continue;
    const installed: LockEntry = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
    if (installed.version !== version) throw new Error(`${path} isn't installed as it is locked.`);
    const nested = join(source, "node_modules");
    const options = { recursive: true, filter: (file: string) => file !== nested };
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(source, join(folder, path), options);
  }
}

interface LockEntry {
  version: string;
  optional?: boolean;
}
