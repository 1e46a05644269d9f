interface Health {
  abilities: Record<string, { model: string | null; why?: string }>;
}

/** A line for each ability that the engine at `url` hasn't got: its name, and what to do about it. */
export async function listAbsent(url: string): Promise<string[]> {
  const response = await fetch(`${url}/health`);
  const { abilities } = (await response.json()) as Health;
  return Object.entries(abilities).flatMap(([name, { model, why }]) =>
    model === null ? `${name}: ${why}` : [],
  );
}
