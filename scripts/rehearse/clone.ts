import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT } from "../../tools/stack/local-state.ts";

/** What a deployment reads. A rehearsal changes some of it. */
const COPIED = [
  "console",
  "migrations",
  "src",
  "openapi.json",
  "package.json",
  "tsconfig.json",
  "wrangler.toml",
];
const LINKED = ["client", "docs", "local", "node_modules", "scripts", "tools"];

/** Makes `folder` into a copy of the project, as a fresh clone after `npm ci`. */
export async function cloneProject(folder: string): Promise<void> {
  await mkdir(folder);
  for (const name of COPIED) await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  for (const name of LINKED) await symlink(join(PROJECT, name), join(folder, name));
}
