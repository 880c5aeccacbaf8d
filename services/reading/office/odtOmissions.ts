import { childElements, findAll, textContent, type Element } from "../guard/xml.ts";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { isFileName } from "./fileNames.ts";

const isDescribed = (frame: Element): boolean =>
  childElements(frame)
    .filter(({ name }) => name === "svg:desc" || name === "svg:title")
    .map(textContent)
    .some((text) => text !== "" && !isFileName(text));

/** Frames that show a picture and nothing that was read. A picture beside an object or a text box is its preview. */
const countPictures = (root: Element): number =>
  findAll(root, "draw:frame").filter((frame) => {
    const names = childElements(frame).map(({ name }) => name);
    const isRead = names.includes("draw:object") || names.includes("draw:text-box");
    return names.includes("draw:image") && !isRead && !isDescribed(frame);
  }).length;

/** Warns of what the text of an OpenDocument file leaves out: tracked deletions, comments, pictures. */
export const warnOfOdtParts = (warn: Warn, root: Element): void => {
  warnOfCount(warn, "tracked_changes_left_out", findAll(root, "text:deletion").length);
  warnOfCount(warn, "comments_left_out", findAll(root, "office:annotation").length);
  warnOfCount(warn, "images_without_text", countPictures(root));
};
