import type { Element, Root } from "hast";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { findElements, isElement, property } from "./tree.ts";

/** Elements that embed another file in the page. */
const FRAMES = new Set(["frame", "iframe", "object", "embed"]);
const PICTURE = /\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#]|$)/i;

const showsFile = (node: Element): boolean => {
  const address = property(node, node.tagName === "object" ? "data" : "src");
  const isPicture = PICTURE.test(address) || property(node, "type").startsWith("image/");
  return property(node, "srcDoc") !== "" || (!isPicture && /^(?!about:|javascript:)\S/i.test(address));
};

/** Whether a person sees it. Invisible files are used to count visits. */
const isVisible = (node: Element): boolean =>
  !["width", "height"].some((side) => /^[01]$/.test(property(node, side))) &&
  !/display\s*:\s*none|visibility\s*:\s*hidden/i.test(property(node, "style"));

const isFrame = (node: Element): boolean => FRAMES.has(node.tagName) && showsFile(node) && isVisible(node);

const hasSource = (node: Element): boolean =>
  property(node, "src") !== "" || node.children.some((child) => isElement(child) && child.tagName === "source");

/** A film behind the page, which plays by itself without sound, says nothing. */
const isBackground = ({ properties }: Element): boolean =>
  "autoPlay" in properties && "muted" in properties && !("controls" in properties);

const isRecording = (node: Element): boolean =>
  (node.tagName === "video" || node.tagName === "audio") && hasSource(node) && isVisible(node) && !isBackground(node);

/** A picture whose bytes are in the file, instead of only its address. */
const isOwnPicture = (node: Element): boolean =>
  node.tagName === "img" && /^data:image\//i.test(property(node, "src")) && property(node, "alt").trim() === "";

/** Warns of content that a page's text lacks: frames, recordings, and pictures in the file without a description. */
export const warnOfHtmlParts = (warn: Warn, root: Root): void => {
  warnOfCount(warn, "frames_left_out", findElements(root, isFrame).length);
  warnOfCount(warn, "embedded_files_left_out", findElements(root, isRecording).length);
  warnOfCount(warn, "images_without_text", findElements(root, isOwnPicture).length);
};
