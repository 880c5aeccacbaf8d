import type { Element, ElementContent, Root } from "hast";
import { UnreadableFile } from "../reader.ts";
import { childNodes, isElement, property } from "./tree.ts";

/** Maximum nesting: nested slots make a page deeper than its source, and later passes recurse. */
const MAX_DEPTH = 1_000;

const isShadow = (node: ElementContent): node is Element & { content: Root } =>
  isElement(node) &&
  node.tagName === "template" &&
  node.content !== undefined &&
  /^(?:open|closed)$/i.test(property(node, "shadowRootMode") || property(node, "shadowrootmode"));

const slotOf = (node: ElementContent): string => (isElement(node) ? property(node, "slot") : "");

/** Puts the children of a host into the slots with their name. A slot without children shows its own content. */
const fillSlots = (nodes: ElementContent[], light: Map<string, ElementContent[]>): ElementContent[] =>
  nodes.flatMap((node): ElementContent[] => {
    if (!isElement(node)) return [node];
    const children = fillSlots(node.children, light);
    if (node.tagName !== "slot") return [{ ...node, children }];
    const name = property(node, "name");
    const given = light.get(name);
    light.delete(name);
    return given ?? children;
  });

const openHost = (host: Element): void => {
  const shadow = host.children.find(isShadow);
  if (!shadow) return;
  const light = Map.groupBy(
    host.children.filter((child) => child !== shadow),
    slotOf,
  );
  host.children = fillSlots(childNodes(shadow.content) as ElementContent[], light);
};

/**
 * Replaces an element with a declarative shadow root, `<template shadowrootmode="open">`, by what browsers show: the root's content,
 * with the element's children in its slots. Changes the tree. Throws UnreadableFile: nested too deeply.
 */
export const openShadowRoots = (node: Root | Element, depth = 0): void => {
  if (depth > MAX_DEPTH) throw new UnreadableFile("The file is nested too deeply.");
  for (const child of childNodes(node)) {
    if (!isElement(child)) continue;
    openHost(child);
    openShadowRoots(child, depth + 1);
  }
};
