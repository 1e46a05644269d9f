import { z } from "@hono/zod-openapi";
import { ERRORS, type ErrorCode, type Observed } from "../errors.ts";
import type { BindingObservations } from "../lifecycle/observe-bindings.ts";
import { FORMS } from "../models/structured-chat.ts";

const error = z
  .object({
    code: z.string().nullable().describe("Code of Cloudflare, if it gave one.").openapi({
      example: "9412",
    }),
    meaning: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe("Error of the service that it leads to."),
  })
  .openapi("BindingError")
  .nullable();

const observed = <Value extends z.ZodType>(value: Value) =>
  z.object({ value: value.nullable(), error });

const size = { width: z.int().describe("Pixels."), height: z.int().describe("Pixels.") };
const luma = z.number().describe("Mean brightness, 0–255.");

/** What the bindings answered: `POST /health/bindings`. */
export const observationRecord = z
  .object({
    contact_sheet: observed(
      z.object({
        ...size,
        columns: z.int().describe("As inferred from the size of the sheet."),
        tile_lumas: z.array(luma).describe("Of the 6 tiles, row by row."),
      }),
    )
      .nullable()
      .describe("6 tiles of 64 × 36 pixels from the video's first 6 seconds. Null without one."),
    frame: observed(z.object({ ...size, luma }))
      .nullable()
      .describe("The video's frame at 3.6 seconds. Null without one."),
    images: z
      .array(observed(z.object({ format: z.string(), ...size })))
      .describe("Each of the images."),
    descriptions: z
      .array(observed(z.unknown()).extend({ form: z.enum(FORMS) }))
      .describe(
        "The model's reply, as it is, to a request to describe the first image as JSON. `wrapped` " +
          "has the schema beside a name, `bare` the schema alone, `json_object` has it in the prompt.",
      ),
    vectors: observed(
      z.object({
        found_after_seconds: z
          .number()
          .nullable()
          .describe("Time until a query found a vector; null after 20 seconds."),
        cosine: z.number().describe("Cosine of the vector and the query."),
        score: z.number().nullable().describe("Score of the query."),
        exact_score: z.number().nullable().describe("Score of a query that returns the values."),
      }),
    ),
    database: z.array(
      z.object({
        limit: z.enum(["parameters", "value_bytes", "statement_bytes"]),
        size: z.int().describe("Size of the statement's parameters, its value or itself."),
        error,
      }),
    ),
  })
  .openapi("BindingObservations");

export function toObservationRecord({
  contactSheet,
  frame,
  images,
  descriptions,
  vectors,
  database,
}: BindingObservations): z.input<typeof observationRecord> {
  return {
    contact_sheet:
      contactSheet &&
      mapValue(contactSheet, ({ tileLumas, ...sheet }) => {
        return { ...sheet, tile_lumas: tileLumas };
      }),
    frame,
    images,
    descriptions,
    vectors: mapValue(vectors, ({ foundAfterMs, exactScore, cosine, score }) => ({
      found_after_seconds: foundAfterMs === null ? null : foundAfterMs / 1000,
      cosine,
      score,
      exact_score: exactScore,
    })),
    database,
  };
}

function mapValue<T, U>({ value, error: failure }: Observed<T>, map: (value: T) => U): Observed<U> {
  return { value: value === null ? null : map(value), error: failure };
}
