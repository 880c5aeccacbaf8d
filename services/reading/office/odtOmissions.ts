import { childElements, findAll, textContent, type Element } from "../guard/xml.ts";
import type { Warn } from "../reader.ts";
import { countUnreadHeaders, warnOfCount } from "../warnings.ts";
import { cleanDescription } from "./descriptions.ts";
import type { OdtContext } from "./odtBody.ts";

const isDescribed = (frame: Element): boolean =>
  childElements(frame)
    .filter(({ name }) => name === "svg:desc" || name === "svg:title")
    .some((node) => cleanDescription(textContent(node)) !== "");

/** Frames that show a picture and no text. A picture beside an object or a text box is its preview. */
const countPictures = (root: Element): number =>
  findAll(root, "draw:frame").filter((frame) => {
    const names = childElements(frame).map(({ name }) => name);
    const isRead = names.includes("draw:object") || names.includes("draw:text-box");
    return names.includes("draw:image") && !isRead && !isDescribed(frame);
  }).length;

/** Objects of other programs, recordings, and objects that are neither a formula nor a chart. */
const countEmbedded = (root: Element, object: OdtContext["object"]): number => {
  const names = new Set(findAll(root, "draw:object").map(({ attributes }) => attributes["xlink:href"] ?? ""));
  const unread = [...names].filter((name) => object(name).length === 0).length;
  return findAll(root, "draw:object-ole").length + findAll(root, "draw:plugin").length + unread;
};

const STYLED = ["text:p", "text:h", "text:span"];

/** Texts hidden by their style, and hidden sections and fields. */
const countHidden = (root: Element, { isHidden }: OdtContext["styles"]): number =>
  STYLED.flatMap((name) => findAll(root, name)).filter(
    (node) => isHidden(node.attributes["text:style-name"] ?? "") && textContent(node).trim() !== "",
  ).length +
  ["text:section", "text:hidden-text", "text:hidden-paragraph"].flatMap((name) =>
    findAll(root, name).filter(({ attributes }) => attributes["text:display"] === "none"),
  ).length;

const FIELDS = ["form:text", "form:textarea", "form:formatted-text", "form:number", "form:date", "form:combobox"];

/** Controls whose text is a label. */
const LABELLED = ["form:checkbox", "form:radio", "form:fixed-text", "form:button", "form:frame"];

const countControls = (root: Element, names: readonly string[], shown: string): number =>
  names.flatMap((name) => findAll(root, name)).filter(({ attributes }) => (attributes[shown] ?? "").trim() !== "")
    .length;

/** Fields with a value, labels of controls, and lists, which offer a choice. */
const countFormFields = (root: Element): number =>
  countControls(root, FIELDS, "form:current-value") +
  countControls(root, LABELLED, "form:label") +
  findAll(root, "form:listbox").length;

const HEADERS = [
  "style:header",
  "style:footer",
  "style:header-left",
  "style:footer-left",
  "style:header-first",
  "style:footer-first",
];

export interface OdtParts extends Pick<OdtContext, "object" | "styles"> {
  /** Contains the headers and footers of its pages. */
  pageStyles: Element | undefined;
  /** Whether the text includes the comments. */
  hasComments: boolean;
}

/** Warns of content that the text of an OpenDocument file lacks. */
export const warnOfOdtParts = (
  warn: Warn,
  root: Element,
  { object, styles, pageStyles, hasComments }: OdtParts,
): void => {
  warnOfCount(warn, "tracked_changes_left_out", findAll(root, "text:deletion").length);
  warnOfCount(warn, "comments_left_out", hasComments ? 0 : findAll(root, "office:annotation").length);
  warnOfCount(warn, "images_without_text", countPictures(root));
  warnOfCount(warn, "embedded_files_left_out", countEmbedded(root, object));
  const headers = pageStyles ? HEADERS.flatMap((name) => findAll(pageStyles, name)).map(textContent) : [];
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders(headers, () => textContent(root)),
  );
  warnOfCount(warn, "hidden_text_left_out", countHidden(root, styles));
  warnOfCount(warn, "form_fields_left_out", countFormFields(root));
};
