interface Health {
  capabilities: Record<string, { model: string | null; reason?: string }>;
}

/** Lists the capabilities that the engine at `url` lacks: name, and how to get it. */
export async function listMissingCapabilities(url: string): Promise<string[]> {
  const response = await fetch(`${url}/health`);
  const { capabilities } = (await response.json()) as Health;
  return Object.entries(capabilities).flatMap(([name, { model, reason }]) =>
    model === null ? `${name}: ${reason}` : [],
  );
}
