import { z } from "@hono/zod-openapi";
import { ERRORS, type ErrorCode, type Observed } from "../errors.ts";
import type { BindingObservations } from "../lifecycle/observe-bindings.ts";
import { FORMS } from "../models/structured-chat.ts";
import { countField, orNull } from "./fields.ts";

const bindingError = z
  .object({
    code: z.string().nullable().describe("Code of Cloudflare, if it gave one.").openapi({
      example: "9412",
    }),
    meaning: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe("Error of the service that it leads to."),
  })
  .openapi("BindingError", { description: "How a binding failed a call." });
const error = orNull(bindingError, "How the call failed; null if it didn't.").openapi({
  example: null,
});

const observed = <Value extends z.ZodType>(value: Value) =>
  z.object({ value: orNull(value, "What was answered; null after an error."), error });

const size = {
  width: countField("Width in pixels.", 64),
  height: countField("Height in pixels.", 36),
};
const number = (description: string, example: number) =>
  z.number().nullable().describe(description).openapi({ example });
const luma = z.number().describe("Mean brightness, 0–255.").openapi({ example: 118 });

/** What the bindings answered: `POST /health/bindings`. */
export const observationRecord = z
  .object({
    contact_sheet: observed(
      z.object({
        ...size,
        columns: countField("Columns, as inferred from the size of the sheet.", 3),
        tile_lumas: z.array(luma).describe("Of the 6 tiles, row by row."),
      }),
    )
      .nullable()
      .describe("Six tiles of 64 × 36 pixels from the video's first 6 seconds. Null without one."),
    frame: observed(z.object({ ...size, luma }))
      .nullable()
      .describe("The video's frame at 3.6 seconds. Null without one."),
    images: z
      .array(
        observed(
          z.object({
            format: z.string().describe("Media type.").openapi({ example: "image/jpeg" }),
            ...size,
          }),
        ),
      )
      .describe("Each of the images."),
    descriptions: z
      .array(
        observed(z.unknown().openapi({ example: { caption: "A dog" } })).extend({
          form: z.enum(FORMS).describe("How JSON was asked for."),
        }),
      )
      .describe(
        "The model's reply, as it is, to a request to describe the first image as JSON. `wrapped` " +
          "has the schema beside a name, `bare` the schema alone, `json_object` has it in the prompt.",
      ),
    vectors: observed(
      z.object({
        found_after_seconds: number("Time until a query found a vector; null after 20 seconds.", 4),
        cosine: z.number().describe("Cosine of the vector and the query.").openapi({
          example: 0.512,
        }),
        score: number("Score of the query.", 0.51),
        exact_score: number("Score of a query that returns the values.", 0.512),
      }),
    ).describe("A vector that was written, queried and deleted."),
    database: z
      .array(
        z.object({
          limit: z
            .enum(["parameters", "value_bytes", "statement_bytes"])
            .describe("Limit of D1 that was tried."),
          size: countField("Size of the statement's parameters, its value or itself.", 100),
          error,
        }),
      )
      .describe("Statements at and past the limits of D1."),
  })
  .openapi("BindingObservations", { description: "What the bindings answered." });

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
