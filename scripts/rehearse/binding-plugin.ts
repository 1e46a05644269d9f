/**
 * Miniflare plugin that binds AI, Images and Vectorize as a deployment has them: through the
 * clients of these services in the runtime (`cloudflare-internal:…`), here with the stand-ins of
 * `local/platform/` as their servers. Miniflare loads it by its path.
 */

/** Name of the plugin, and of the type of its bindings. */
export const PLUGIN = "platform";

/** Name of the Worker with the stand-ins. */
export const PLATFORM = "sightline-platform";

/** A binding of the plugin. */
export type PlatformBinding = {
  /** Module of the runtime that is the client. */
  client: "ai-api" | "images-api" | "vectorize-api";
  /** Entrypoint of the stand-in, and what it needs to know of the resource. */
  entrypoint: string;
  props?: VectorizeProps;
  /** What else the runtime's client is made with. */
  inner?: ({ name: string; text: string } | { name: string; json: string })[];
};

/** An index as setup created it. */
type VectorizeProps = {
  name: string;
  dimensions: number;
  /** Types by property. */
  metadata_indexes: Record<string, string>;
};

interface ParsedWorker {
  config: { env?: Record<string, { type: string; dev?: { options?: PlatformBinding } }> };
}

export const plugins = {
  [PLUGIN]: {
    bindingTypeDescription: "Stand-in",
    getBindings({ config }: ParsedWorker) {
      return Object.entries(config.env ?? {}).flatMap(([name, { type, dev }]) =>
        type === `unsafe:${PLUGIN}` && dev?.options ? [toBinding(name, dev.options)] : [],
      );
    },
    getNodeBindings: () => ({}),
    getServices: () => [],
  },
};

function toBinding(name: string, { client, entrypoint, props, inner = [] }: PlatformBinding) {
  const service = {
    name: `core:user:${PLATFORM}`,
    entrypoint,
    ...(props && { props: { json: JSON.stringify(props) } }),
  };
  return {
    name,
    wrapped: {
      moduleName: `cloudflare-internal:${client}`,
      innerBindings: [{ name: "fetcher", service }, ...inner],
    },
  };
}
