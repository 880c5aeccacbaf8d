import type { Element } from "hast";
import type { Handle, State } from "hast-util-to-mdast";
import { defaultHandlers } from "hast-util-to-mdast";
import type { ListItem, Nodes, Paragraph, PhrasingContent } from "mdast";
import { diagramLabels } from "./diagramLabels.ts";
import { fieldText } from "./formFields.ts";
import { numberedItem, orderedList } from "./itemNumbers.ts";
import { mathToTex } from "./mathToTex.ts";
import { NOTE, NOTE_REFERENCE } from "./notes.ts";
import { tableHandler } from "./table.ts";
import { findElements, isElement, property, textContent } from "./tree.ts";
import { rawMarkdown } from "./rawMarkdown.ts";

const ignore: Handle = () => undefined;

const content: Handle = (state, node) => state.all(node);

const block: Handle = (state, node) => state.toFlow(state.all(node));

const listItem = (children: ListItem["children"]): ListItem => ({ type: "listItem", children });

const phrasing = (nodes: Nodes[]): PhrasingContent[] => nodes as PhrasingContent[];

/** Relative links work only within the page's site. */
const ABSOLUTE = /^(?:https?:\/\/|mailto:)\S+$/i;

/** Keeps absolute links only. */
const link: Handle = (state, node) => {
  const url = property(node, "href").trim();
  const children = phrasing(state.all(node));
  if (!ABSOLUTE.test(url) || textContent(node).trim() === "") return children;
  return { type: "link", url, children };
};

const image: Handle = (_state, node) => {
  const alt = property(node, "alt").replace(/\s+/g, " ").trim();
  return alt === "" ? undefined : { type: "text", value: alt };
};

/** A linked part of a picture, on its own line. */
const area: Handle = (_state, node) => {
  const label = property(node, "alt").replace(/\s+/g, " ").trim();
  const url = property(node, "href").trim();
  if (label === "") return undefined;
  const text: PhrasingContent = { type: "text", value: label };
  return [ABSOLUTE.test(url) ? { type: "link", url, children: [text] } : text, { type: "break" }];
};

const drawing: Handle = (_state, node) => {
  const labels = diagramLabels(node);
  return labels.length === 0 ? undefined : { type: "text", value: labels.join(" ") };
};

/** `10<sup>5</sup>` must not become 105. */
const superscript: Handle = (state, node) => {
  const children = state.all(node);
  const text = textContent(node).trim();
  const power =
    /^[+\-−–]?\d{1,3}$|^[nmkxyijt]$/.test(text) && findElements(node, ({ tagName }) => tagName === "a").length === 0;
  return power ? { type: "text", value: `^${text}` } : children;
};

/** The terms and descriptions of a list, even if each pair is wrapped in a `<div>`. */
const definitionParts = (node: Element): Element[] =>
  node.children.filter(isElement).flatMap((child) => (child.tagName === "div" ? definitionParts(child) : [child]));

const strongTerm = (term: Paragraph): Paragraph => ({
  type: "paragraph",
  children: [{ type: "strong", children: term.children }],
});

const definitions: Handle = (state, node) => {
  const items: ListItem[] = [];
  for (const part of definitionParts(node)) {
    const children = state.toFlow(state.all(part)) as ListItem["children"];
    const open = items.at(-1);
    if (part.tagName === "dt") {
      const [first, ...rest] = children;
      items.push(listItem(first?.type === "paragraph" ? [strongTerm(first), ...rest] : children));
    } else if (open) {
      const last = open.children.at(-1);
      if (last?.type === "list") last.children.push(listItem(children));
      else open.children.push({ type: "list", children: [listItem(children)] });
    } else items.push(listItem(children));
  }
  return { type: "list", children: items };
};

/** The value or selection of a field, and the state of a box. */
const field: Handle = (_state, node) => {
  const value = fieldText(node);
  if (value !== "") return { type: "text", value };
  if (!/^(?:checkbox|radio)$/.test(property(node, "type")) || property(node, "role") !== "") return undefined;
  return rawMarkdown("checked" in node.properties && node.properties["checked"] !== false ? "[x]" : "[ ]");
};

/** Math as TeX between dollar signs. A pipe is replaced, because it would end a table cell. */
const math: Handle = (_state, node) => {
  const source = findElements(node, (child) => property(child, "encoding") === "application/x-tex")[0];
  const tex = (source ? textContent(source) : mathToTex(node)).replace(/\s+/g, " ").replaceAll("|", "\\vert ").trim();
  if (tex === "") return undefined;
  return rawMarkdown(property(node, "display") === "block" ? `$$${tex}$$` : `$${tex}$`);
};

const noteReference: Handle = (_state, node) => {
  const identifier = property(node, "id");
  return { type: "footnoteReference", identifier, label: identifier };
};

const note: Handle = (state, node) => {
  const identifier = property(node, "id");
  return {
    type: "footnoteDefinition",
    identifier,
    label: identifier,
    children: state.toFlow(state.all(node)),
  };
};

const LANGUAGE = /^(?:language-|lang-|sourceCode$)/;

/** The language from the classes of the block or of its code; highlighters use either. */
const codeLanguage = (node: Element): string | null => {
  const code = node.children.find((child) => isElement(child) && child.tagName === "code");
  const classes = [node, ...(code && isElement(code) ? [code] : [])].flatMap((at) =>
    property(at, "className").split(" "),
  );
  const named = classes.find((name) => LANGUAGE.test(name) && name !== "sourceCode");
  if (named) return named.replace(LANGUAGE, "");
  return classes[0] === "sourceCode" ? (classes[1] ?? null) : null;
};

const code: Handle = (state, node) => {
  const block = defaultHandlers.pre?.(state, node);
  if (!block || Array.isArray(block) || block.type !== "code") return block ?? undefined;
  return { ...block, lang: codeLanguage(node) };
};

/** Handlers for elements that the library's defaults convert badly. */
export const handlers: Record<string, Handle> = {
  a: link,
  img: image,
  image,
  area,
  svg: drawing,
  dialog: block,
  sup: superscript,
  table: (state: State, node) => tableHandler(state, node),
  dl: definitions,
  li: numberedItem,
  ol: orderedList,
  menu: (state, node) => defaultHandlers.ul?.(state, node),
  pre: code,
  u: content,
  mark: content,
  audio: content,
  video: content,
  select: field,
  textarea: field,
  input: field,
  iframe: ignore,
  comment: ignore,
  wbr: ignore,
  math,
  [NOTE_REFERENCE]: noteReference,
  [NOTE]: note,
};
