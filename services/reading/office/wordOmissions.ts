import { childElements, findAll, type Element } from "../guard/xml.ts";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";

/** Tracked deletions, and the places that tracked moves left. */
const DELETIONS = new Set(["w:del", "w:moveFrom"]);
const PICTURES = new Set(["pic:pic", "v:imagedata"]);

/** Descendants of these names, without those inside another match. The fallback of an alternative repeats its content. */
const countAll = (element: Element, names: ReadonlySet<string>): number => {
  let count = 0;
  for (const child of childElements(element)) {
    if (names.has(child.name)) count++;
    else if (child.name !== "mc:Fallback") count += countAll(child, names);
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

/** Warns of what the text of a Word document leaves out: tracked deletions, comments, pictures. */
export function warnOfWordParts(warn: Warn, bodies: readonly Element[], comments: Element | undefined): void {
  const sum = (count: (body: Element) => number): number => bodies.reduce((total, body) => total + count(body), 0);
  warnOfCount(warn, "tracked_changes_left_out", sum(countDeletions));
  warnOfCount(warn, "comments_left_out", comments ? findAll(comments, "w:comment").length : 0);
  warnOfCount(
    warn,
    "images_without_text",
    sum((body) => countAll(body, PICTURES)),
  );
}
