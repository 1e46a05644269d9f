/** Time after which an event that a test waits for never comes, however busy the machine is. */
export const WATCHDOG_MS = 10 * 60_000;
