import { MAX_OCR_LANGUAGES } from "#events/ocrLanguages.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

/** Languages of text recognition without repetitions. Throws a 400 that names the field and lists the installed languages. */
export function requireLanguages(
  { ocrLanguages }: Pick<Http, "ocrLanguages">,
  field: string,
  sent: string[],
): string[] {
  const languages = [...new Set(sent)];
  const refuse = (why: string): never => {
    throw new ApiError(null, `${field}: ${why}. Installed are ${ocrLanguages.join(", ")}.`, { param: field });
  };
  if (languages.length === 0 || languages.length > MAX_OCR_LANGUAGES)
    refuse(`must name 1 to ${MAX_OCR_LANGUAGES} languages`);
  const unknown = languages.find((language) => !ocrLanguages.includes(language));
  if (unknown !== undefined) refuse(`${JSON.stringify(unknown.slice(0, 50))} is not installed`);
  return languages;
}
