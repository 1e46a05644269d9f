import { formatPath } from "../../client/src/api-path.ts";

/** A record of the API; the fields depend on its kind. */
type Fields = Record<string, unknown>;

/** A parameter of an operation, or a field of a form, as the OpenAPI document has it. */
interface DocumentedField {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: string | number;
  examples?: unknown;
  schema: Fields & { example?: string | number };
}

/** An operation of the OpenAPI document, with the parts that `fillExamples` changes. */
export interface DocumentedOperation {
  parameters?: DocumentedField[];
  requestBody?: {
    content: Record<
      string,
      {
        schema?: { properties?: Record<string, Fields>; required?: string[] };
        examples?: Record<string, Fields>;
      }
    >;
  };
}

interface FilledDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
}

type Records = Record<string, Fields | undefined>;

/** What the console sends a request to. */
interface Target {
  path: string[];
  query: Record<string, string>;
}

/** Returns the path and the query of a target, as the client sends them. */
export function pathOf({ path, query }: Target): string {
  return `${formatPath(path)}?${new URLSearchParams(query).toString()}`;
}

/** The functions under test; the console is plain JavaScript without types. */
const load = (file: string): Promise<unknown> => import(/* @vite-ignore */ file);

export const { fillExamples } = (await load(
  new URL("../../console/console/reference/reference-examples.js", import.meta.url).href,
)) as { fillExamples: (document: object, records: Records | null) => FilledDocument };

export const { findRecords } = (await load(
  new URL("../../console/console/reference/reference-records.js", import.meta.url).href,
)) as {
  findRecords: (
    get: (target: Target) => Promise<Fields>,
    preferred: string,
  ) => Promise<{ names: string[]; records: Records }>;
};
