import { z } from "zod";
import { WARNING_CODES, type ReadingWarning, type WarningCode } from "#events/readingWarnings.ts";

/** A warning about a file that was read only in part or with low confidence. */
export const Warning = z.object({
  code: z.enum(WARNING_CODES).or(z.string()).describe("One of the list; a newer release may have further ones."),
  pages: z.array(z.int()).optional().describe("The pages or slides that it concerns, from 1."),
  count: z.int().optional().describe("How many images, changes, comments, sheets, files and so on it concerns."),
  confidence: z
    .array(z.int())
    .optional()
    .describe("How sure text recognition is of each of these pages, from 0 to 100, in the order of `pages`."),
  message: z.string().describe("The same for people."),
});

export const Warnings = z
  .array(Warning)
  .describe(
    "What the text does not have, although the file does, and pages whose text was recognized in pictures. Absent if there is nothing to say.",
  );

/** Maximum page ranges in a message. */
const MAX_RANGES = 20;

/** Formats page numbers, such as `2-5, 9`. */
function formatPages(pages: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last?.to === page - 1) last.to = page;
    else ranges.push({ from: page, to: page });
  }
  const listed = ranges.slice(0, MAX_RANGES).map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  return listed.join(", ") + (ranges.length > MAX_RANGES ? ", …" : "");
}

interface Wording {
  /** The verb for one page, and for several. */
  verbs: [one: string, many: string];
  /** The rest of the sentence. `%` stands for the confidence. */
  rest: string;
  /** What is counted, in singular and plural, for warnings without pages. */
  noun?: string;
  nouns?: string;
}

/** For warnings that count things in a file without pages. `rest`: what a page has. */
const counted = (
  noun: string,
  { nouns = `${noun}s`, rest = `${nouns} that were left out` }: { nouns?: string; rest?: string } = {},
): Wording => ({ verbs: ["has", "have"], noun, nouns, rest });

/** The wording for codes written by a newer release. */
const UNKNOWN: Wording = { verbs: ["has", "have"], rest: "something that the text may lack" };

const WORDINGS: Record<WarningCode, Wording> = {
  page_without_text: { verbs: ["has", "have"], rest: "no text that could be read, as blank and scanned pages do" },
  read_from_picture: { verbs: ["has", "have"], rest: "text that was read from pictures, % sure" },
  uncertain_text: {
    verbs: ["has", "have"],
    rest: "text that was read from pictures, only % sure: compare the text with the file",
  },
  picture_unreadable: { verbs: ["has", "have"], rest: "pictures that could not be read" },
  recognition_limit_reached: {
    verbs: ["was", "were"],
    rest: "not read, because the pages of text recognition for one file, or of the organization for today, are used up",
  },
  page_damaged: { verbs: ["is", "are"], rest: "damaged and could not be read" },
  pages_cut: { verbs: ["has", "have"], rest: "more text than can be read, and the rest was left out" },
  symbols_instead_of_words: {
    ...counted("symbol of an unknown font", { nouns: "symbols of unknown fonts" }),
    verbs: ["uses", "use"],
    rest: "fonts that do not say which letters they show, so their words may be missing or wrong",
  },
  images_without_text: counted("image", { rest: "images whose text was not read" }),
  tracked_changes_left_out: counted("tracked deletion", { rest: "deleted text that was left out" }),
  comments_left_out: counted("comment"),
  hidden_sheets: counted("hidden sheet"),
  embedded_files_left_out: counted("attached or embedded file", {
    rest: "embedded files or recordings that were left out",
  }),
  headers_and_footers_left_out: counted("header or footer", { nouns: "headers or footers" }),
  hidden_text_left_out: counted("hidden text", { rest: "hidden text that was left out" }),
  formulas_without_values: counted("formula without a stored value", {
    nouns: "formulas without stored values",
    rest: "formulas without stored values",
  }),
  form_fields_left_out: counted("filled form field"),
  drawings_left_out: counted("drawing"),
  frames_left_out: counted("page shown in a frame", {
    nouns: "pages shown in frames",
    rest: "frames that were left out",
  }),
};

/** Formats a confidence, such as `91 %` or `91-96 %`. */
function formatConfidence(confidence: readonly number[]): string {
  let [least, most] = [100, 0];
  for (const one of confidence) [least, most] = [Math.min(least, one), Math.max(most, one)];
  return least < most ? `${least}-${most} %` : `${most} %`;
}

function describeWarning({ code, pages, count = 0, confidence = [] }: ReadingWarning): string {
  const { verbs, rest, noun = "part", nouns = "parts" } = Object.hasOwn(WORDINGS, code) ? WORDINGS[code] : UNKNOWN;
  if (!pages) return `${count.toLocaleString("en")} ${count === 1 ? `${noun} was` : `${nouns} were`} left out.`;
  const text = rest.replace("%", formatConfidence(confidence));
  return pages.length === 1
    ? `Page ${pages[0]} ${verbs[0]} ${text.replace("from pictures", "from a picture")}.`
    : `Pages ${formatPages(pages)} ${verbs[1]} ${text}.`;
}

/** The `warnings` field, which is left out without warnings. */
export const presentWarnings = (warnings: readonly ReadingWarning[]): { warnings?: z.infer<typeof Warnings> } =>
  warnings.length === 0
    ? {}
    : { warnings: warnings.map((warning) => ({ ...warning, message: describeWarning(warning) })) };
