import { openZip } from "../guard/zip.ts";
import { refuseProtected } from "../office/part.ts";
import { UnreadableFile } from "../reader.ts";
import { designOf } from "./design.ts";
import { at, childrenNamed, reference } from "./names.ts";
import { openParts } from "./parts.ts";
import { remembered } from "./remembered.ts";
import { slideMarkdown } from "./slide.ts";

const MAX_SLIDES = 5_000;

/** The slides of a presentation, in the order in which they are shown. Throws UnreadableFile. */
export const readPptx = async (bytes: Uint8Array): Promise<string[]> => {
  refuseProtected(bytes);
  const parts = openParts(openZip(bytes));
  const name = parts.related("", "officeDocument") ?? "ppt/presentation.xml";
  const presentation = parts.xml(name);
  if (!presentation) throw new UnreadableFile("The file is damaged, or no presentation.");
  const relations = parts.relations(name);
  const slides = childrenNamed(at(presentation, "sldIdLst"), "sldId").map((slide) => reference(slide, "id"));
  if (slides.length > MAX_SLIDES) throw new UnreadableFile("The presentation has too many slides.");
  const design = remembered((layout) => designOf(parts, layout));
  return slides.map((id, index) => {
    const slide = relations.get(id)?.target ?? "";
    return slideMarkdown(parts, slide, index + 1, design(parts.related(slide, "slideLayout") ?? ""));
  });
};
