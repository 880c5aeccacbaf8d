import { Metadata } from "#events/documentInput.ts";
import { readJsonField } from "./jsonField.ts";
import type { Field } from "./multipartForm.ts";

/** The metadata of a form; undefined without any. Throws a 400 with `param: metadata`. */
export const readMetadata = (fields: Field[]): Metadata | undefined =>
  readJsonField(fields, "metadata", "a JSON object", Metadata);
