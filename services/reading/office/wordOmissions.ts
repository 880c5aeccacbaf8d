import { childElements, findAll, findChild, textContent, type Element } from "../guard/xml.ts";
import type { Warn } from "../reader.ts";
import { findPath } from "../slides/localNames.ts";
import type { Relation } from "../slides/parts.ts";
import { countUnreadHeaders, MAX_HEADERS, warnOfCount } from "../warnings.ts";
import { isReadableChunk } from "./altChunks.ts";
import { cleanDescription } from "./descriptions.ts";
import { isGroup } from "./wordDrawings.ts";
import { shapeDescription } from "./wordShapes.ts";
import { isOn } from "./wordStyles.ts";
import { countUnknownSymbols } from "./wordSymbols.ts";

/** Tracked deletions, and the places that tracked moves left. */
const DELETIONS = new Set(["w:del", "w:moveFrom"]);
const PICTURES = new Set(["pic:pic", "v:imagedata"]);

/** Pictures with a description are read. */
const isDescribed = (drawing: Element): boolean =>
  drawing.name === "w:drawing" &&
  findAll(drawing, "wp:docPr").some(({ attributes }) => cleanDescription(attributes["descr"]) !== "");

/** Whether a picture of a group has its own description. */
const isDescribedPart = (picture: Element): boolean =>
  cleanDescription(findPath(picture, "nvPicPr", "cNvPr")?.attributes["descr"]) !== "";

/** Pictures without a description, without those inside another match. The fallback of an alternative repeats its content. */
const countPictures = (element: Element, inGroup = false): number => {
  let count = 0;
  for (const child of childElements(element)) {
    if (PICTURES.has(child.name))
      count += (inGroup && isDescribedPart(child)) || shapeDescription(element) !== "" ? 0 : 1;
    else if (child.name !== "mc:Fallback" && !isDescribed(child))
      count += countPictures(child, inGroup || isGroup(child));
  }
  return count;
};

const hasText = (element: Element): boolean =>
  findAll(element, "w:t").length + findAll(element, "w:delText").length > 0;

const countDeletions = (element: Element): number => {
  let count = 0;
  for (const child of childElements(element)) {
    if (DELETIONS.has(child.name)) count += hasText(child) ? 1 : 0;
    else count += countDeletions(child);
  }
  return count;
};

const countHidden = (body: Element): number =>
  findAll(body, "w:r").filter((run) => isOn(findChild(findChild(run, "w:rPr"), "w:vanish")) && hasText(run)).length;

/** The text of an element, and that of its watermarks. */
const textOf = (element: Element): string =>
  [
    ...findAll(element, "w:t").map(textContent),
    ...findAll(element, "v:textpath").map(({ attributes }) => attributes["string"] ?? ""),
  ].join("");

/** Relations to files of other programs, and to embedded documents. */
const EMBEDDED = new Set(["oleObject", "package", "aFChunk", "subDocument"]);

export interface WordParts {
  /** The text and its notes. */
  bodies: readonly Element[];
  comments: Element | undefined;
  /** Headers and footers. */
  headers: readonly Element[];
  /** Relations of the text. */
  relations: ReadonlyMap<string, Relation>;
}

/** Warns of content that the text of a Word document lacks. */
export function warnOfWordParts(warn: Warn, { bodies, comments, headers, relations }: WordParts): void {
  const sum = (count: (body: Element) => number): number => bodies.reduce((total, body) => total + count(body), 0);
  warnOfCount(warn, "tracked_changes_left_out", sum(countDeletions));
  warnOfCount(warn, "comments_left_out", comments ? findAll(comments, "w:comment").length : 0);
  warnOfCount(warn, "images_without_text", sum(countPictures));
  const embedded = [...relations.values()].filter((one) => EMBEDDED.has(one.kind) && !isReadableChunk(one));
  warnOfCount(warn, "embedded_files_left_out", new Set(embedded.map(({ target }) => target)).size);
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders(headers.slice(0, MAX_HEADERS).map(textOf), () => bodies.map(textOf).join(" ")),
  );
  warnOfCount(warn, "hidden_text_left_out", sum(countHidden));
  warnOfCount(warn, "symbols_instead_of_words", sum(countUnknownSymbols));
}
