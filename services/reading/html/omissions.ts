import type { Element, Root } from "hast";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { findElements, property, textContent } from "./tree.ts";

/** A page within the page that people see. Programs count visits with invisible ones. */
const isFrame = (node: Element): boolean =>
  (node.tagName === "frame" || node.tagName === "iframe") &&
  (property(node, "srcDoc") !== "" || /^(?!about:|javascript:)\S/i.test(property(node, "src"))) &&
  !["width", "height"].some((side) => /^[01]$/.test(property(node, side))) &&
  !/display\s*:\s*none|visibility\s*:\s*hidden/i.test(property(node, "style"));

/** A picture that is part of the file. Others are only named in it. */
const isOwnPicture = (node: Element): boolean =>
  node.tagName === "img" && /^data:image\//i.test(property(node, "src")) && property(node, "alt").trim() === "";

const TYPED = /^(?:text|email|tel|url|number|date|datetime-local|month|time)?$/;

/** A field of a form with something typed into it. */
const isFilled = (node: Element): boolean =>
  (node.tagName === "textarea" && textContent(node).trim() !== "") ||
  (node.tagName === "input" && TYPED.test(property(node, "type")) && property(node, "value").trim() !== "");

/** Warns of what the text of a page leaves out: frames, filled forms, and pictures in the file that have no description. */
export const warnOfHtmlParts = (warn: Warn, root: Root): void => {
  warnOfCount(warn, "form_fields_left_out", findElements(root, isFilled).length);
  warnOfCount(warn, "frames_left_out", findElements(root, isFrame).length);
  warnOfCount(warn, "images_without_text", findElements(root, isOwnPicture).length);
};
