import { Metadata } from "#events/documentInput.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { readJsonField } from "./jsonField.ts";
import type { Field } from "./multipartForm.ts";

/** Metadata in a request. */
export const SentMetadata = refuseInexact(Metadata);

/** The metadata of a form; undefined without any. Throws a 400 with `param: metadata`. */
export const readMetadata = (fields: Field[]): Metadata | undefined =>
  readJsonField(fields, "metadata", "a JSON object", SentMetadata);
