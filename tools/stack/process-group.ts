import { setTimeout as wait } from "node:timers/promises";

const GRACE_MS = 4000;
const POLL_MS = 25;

/**
 * Sends SIGTERM to the leaders of process groups, which end their children themselves. Kills the
 * rest of a group once its leader has ended or four seconds have passed. Resolves when no process
 * is left.
 */
export async function endGroups(groups: readonly number[]): Promise<void> {
  await Promise.all(groups.map(endGroup));
}

async function endGroup(group: number): Promise<void> {
  // 0 is the group of a child that never started.
  if (group <= 1) return;
  const deadline = Date.now() + GRACE_MS;
  send(group, "SIGTERM");
  while (send(group, 0) && Date.now() < deadline) await wait(POLL_MS);
  // SIGKILL can't be ignored; a zombie may stay listed until its parent waits for it.
  if (send(-group, "SIGKILL")) await wait(POLL_MS);
}

/** Sends a signal; returns false if no such process, or process of the group `-id`, is left. */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    return false;
  }
}
