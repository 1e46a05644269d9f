/** A signal that aborts when this process is asked to end (Ctrl-C, SIGTERM, a closed terminal). */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort());
  }
  return controller.signal;
}
