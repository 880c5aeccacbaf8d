import type { Warn } from "../reader.ts";
import { countUnreadHeaders, warnOfCount } from "../warnings.ts";
import type { DocFile } from "./docFile.ts";
import { readFlag, readFormatRuns } from "./docProperties.ts";
import { findSymbol } from "./docSymbols.ts";

const MODIFIER = { deleted: 0x0800, picture: 0x6a03, isFormData: 0x0806, hidden: 0x083c };

/** Each comment starts with its mark. */
// oxlint-disable-next-line no-control-regex
const COMMENT = /\u0005/g;

/** A field that embeds a file of another program. */
// oxlint-disable-next-line no-control-regex
const EMBEDDED = /\u0013\s*EMBED\b/g;

/** A check box. Whether it is checked is not in the text. */
// oxlint-disable-next-line no-control-regex
const CHECK_BOX = /\u0013\s*FORMCHECKBOX\b/g;

/** A list field whose choice is not in the text. */
// oxlint-disable-next-line no-control-regex
const CHOICE = /\u0013\s*FORMDROPDOWN\b[^\u0013-\u0015]*(?:\u0014\s*)?\u0015/g;

/** Warns of content that the text of a Word document lacks. */
export const warnOfDocParts = (warn: Warn, file: DocFile): void => {
  const runs = readFormatRuns(file, "characterFormats").map(({ modifiers }) => modifiers);
  const { body, footnotes, headers, comments } = file.lengths;
  const from = body + footnotes + headers;
  const pictures = runs.filter((run) => run.has(MODIFIER.picture) && !readFlag(run, MODIFIER.isFormData));
  warnOfCount(warn, "tracked_changes_left_out", runs.filter((run) => readFlag(run, MODIFIER.deleted)).length);
  warnOfCount(warn, "comments_left_out", file.text.slice(from, from + comments).match(COMMENT)?.length ?? 0);
  warnOfCount(warn, "images_without_text", pictures.length);
  const texts = file.text.slice(body + footnotes, from).split("\r");
  warnOfCount(warn, "embedded_files_left_out", file.text.slice(0, body).match(EMBEDDED)?.length ?? 0);
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders(texts, () => file.text.slice(0, body)),
  );
  for (const field of [CHOICE, CHECK_BOX])
    warnOfCount(warn, "form_fields_left_out", file.text.slice(0, body).match(field)?.length ?? 0);
  warnOfCount(warn, "symbols_instead_of_words", runs.filter((run) => findSymbol(run, file.fonts) === "").length);
  warnOfCount(warn, "hidden_text_left_out", runs.filter((run) => readFlag(run, MODIFIER.hidden)).length);
};
