import { z } from "zod";

/* What a reader left out or could not read, in a file that has some text. */

export const WARNING_CODES = [
  "page_without_text",
  "page_damaged",
  "pages_cut",
  "symbols_instead_of_words",
  "images_without_text",
  "tracked_changes_left_out",
  "comments_left_out",
  "hidden_sheets",
] as const;

export type WarningCode = (typeof WARNING_CODES)[number];

export const ReadingWarning = z.object({
  code: z.enum(WARNING_CODES),
  /** Pages or slides, from 1, ascending; absent if the type has none. */
  pages: z.array(z.int().positive()).optional(),
  /** Images, changes, comments or sheets; absent if pages say how many. */
  count: z.int().positive().optional(),
});

export type ReadingWarning = z.infer<typeof ReadingWarning>;
