interface Health {
  capabilities: Record<string, { model: string | null; reason?: string }>;
}

/** Lists the capabilities of the engine at `url`: name, model or null, and how to get a model. */
export async function listCapabilities(url: string): Promise<Health["capabilities"]> {
  const response = await fetch(`${url}/health`);
  return ((await response.json()) as Health).capabilities;
}

/** Lists the capabilities that the engine at `url` lacks: name, and how to get it. */
export async function listMissingCapabilities(url: string): Promise<string[]> {
  return Object.entries(await listCapabilities(url)).flatMap(([name, { model, reason }]) =>
    model === null ? `${name}: ${reason}` : [],
  );
}
