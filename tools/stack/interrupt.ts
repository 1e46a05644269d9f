/** Returns a signal that aborts on Ctrl-C, SIGTERM or a closed terminal. */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort());
  }
  return controller.signal;
}
