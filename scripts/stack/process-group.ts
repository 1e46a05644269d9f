import { setTimeout as wait } from "node:timers/promises";

const GRACE_MS = 4000;
const LOOK_MS = 25;

/**
 * Asks the leaders of process groups to end, and kills what is left of a group once its leader is
 * gone or four seconds have passed. Resolves when none of them runs any more. The leader is asked
 * alone: it ends its own children in good order.
 */
export async function endGroups(groups: readonly number[]): Promise<void> {
  await Promise.all(groups.map(endGroup));
}

async function endGroup(group: number): Promise<void> {
  // 0 is the group of a child that never started.
  if (group <= 1) return;
  const deadline = Date.now() + GRACE_MS;
  send(group, "SIGTERM");
  while (send(group, 0) && Date.now() < deadline) await wait(LOOK_MS);
  // Once is enough: it can't be refused, and the dead may stay listed until someone asks for them.
  if (send(-group, "SIGKILL")) await wait(LOOK_MS);
}

/** False where no such process, or no process of the group `-id`, is left. */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    return false;
  }
}
