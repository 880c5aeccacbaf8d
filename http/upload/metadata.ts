import { MetadataInput } from "#events/documentInput.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { readJsonField } from "./jsonField.ts";
import type { Field } from "./multipartForm.ts";

/** Metadata in a request. */
export const SentMetadata = refuseInexact(MetadataInput);

/** The metadata of a form; undefined without any. Throws a 400 with `param: metadata`. */
export const readMetadata = (fields: Field[]): MetadataInput | undefined =>
  readJsonField(fields, "metadata", "a JSON object", SentMetadata);
