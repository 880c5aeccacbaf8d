import { z } from "zod";

/** Maximum languages that text recognition looks for in one file: each takes about as long as the first. */
export const MAX_OCR_LANGUAGES = 4;

/** Languages as text recognition names them, `deu` or `chi_sim`, the most frequent first. */
export const OcrLanguages = z
  .array(z.string().regex(/^[a-z]{3}(_[a-z]+)*$/))
  .min(1)
  .max(MAX_OCR_LANGUAGES);

/** The languages that text recognition looked for; absent if it read no page. */
export const RecognizedLanguages = z.array(z.string()).optional();
