import { z } from "zod";

/* What a reader left out, could not read, or read with doubts, in a file that has some text. */

export const WARNING_CODES = [
  "page_without_text",
  "read_from_picture",
  "uncertain_text",
  "picture_unreadable",
  "recognition_limit_reached",
  "page_damaged",
  "pages_cut",
  "symbols_instead_of_words",
  "images_without_text",
  "tracked_changes_left_out",
  "comments_left_out",
  "hidden_sheets",
  "embedded_files_left_out",
  "headers_and_footers_left_out",
  "hidden_text_left_out",
  "formulas_without_values",
  "form_fields_left_out",
  "frames_left_out",
  "drawings_left_out",
] as const;

export type WarningCode = (typeof WARNING_CODES)[number];

export const ReadingWarning = z.object({
  code: z.enum(WARNING_CODES),
  /** Pages or slides, from 1, ascending; absent if the type has none. */
  pages: z.array(z.int().positive()).optional(),
  /** How many images, changes, comments, sheets, files and so on; absent if `pages` says it. */
  count: z.int().positive().optional(),
  /** The confidence of text recognition for each of `pages`, in the same order, from 0 to 100. Only for pages read from pictures. */
  confidence: z.array(z.int().min(0).max(100)).optional(),
});

export type ReadingWarning = z.infer<typeof ReadingWarning>;
