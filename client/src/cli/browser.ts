import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Environment } from "./config.ts";
import { isWebUrl } from "./output.ts";

/** Opens an http or https URL in the browser: `$BROWSER`, or the system's default. */
export async function openInBrowser(url: string, env: Environment): Promise<void> {
  if (!isWebUrl(url)) throw new Error(`${url} is no http or https URL.`);
  const [program, args] = browserCommand(process.platform, env);
  const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
  const failed = once(child, "error").then(([error]) => {
    throw new Error(`No browser could be opened: ${String(error)}. Print the link with --links.`);
  });
  await Promise.race([once(child, "spawn"), failed]);
  child.unref();
}

function browserCommand(platform: string, env: Environment): [string, string[]] {
  if (env["BROWSER"]) return [env["BROWSER"], []];
  if (platform === "darwin") return ["open", []];
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler"]];
  return ["xdg-open", []];
}
