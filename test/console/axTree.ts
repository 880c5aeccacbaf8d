import type { CDPSession, Page } from "playwright-core";

/* What a screen reader gets of a page: Chromium's accessibility tree. */

interface AxNode {
  nodeId: string;
  parentId?: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  description?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
  childIds?: string[];
}

/** A focused element, or one that is announced. */
export interface Heard {
  role: string;
  name: string;
  description: string;
  isInvalid: boolean;
}

const ROOTS = ["RootWebArea", "WebArea"];
const sessions = new WeakMap<Page, Promise<CDPSession>>();

async function readNodes(page: Page): Promise<AxNode[]> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const { nodes } = await (await session).send("Accessibility.getFullAXTree");
  return nodes as AxNode[];
}

const propertyOf = (node: AxNode, name: string): unknown =>
  node.properties?.find((property) => property.name === name)?.value.value;

/** A field of a date has the focus in one of its parts, and is invalid as a whole. */
function isInvalid(node: AxNode, nodes: Map<string, AxNode>): boolean {
  const parent = nodes.get(node.parentId ?? "");
  return (
    propertyOf(node, "invalid") === "true" || (node.role?.value !== "form" && !!parent && isInvalid(parent, nodes))
  );
}

const toHeard = (node: AxNode, nodes: Map<string, AxNode>): Heard => ({
  role: node.role?.value ?? "",
  name: node.name?.value ?? "",
  description: node.description?.value ?? "",
  isInvalid: isInvalid(node, nodes),
});

/** The words below a node. */
function textOf(node: AxNode, nodes: Map<string, AxNode>): string {
  const children = (node.childIds ?? []).flatMap((id) => nodes.get(id) ?? []);
  if (node.role?.value === "StaticText") return node.name?.value ?? "";
  return children.map((child) => textOf(child, nodes)).join(" ");
}

/** The element that has the focus, and the words of all alerts. */
export async function hear(page: Page): Promise<{ focused: Heard | undefined; alerts: string[] }> {
  const nodes = await readNodes(page);
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const isFocused = (node: AxNode) =>
    !node.ignored && propertyOf(node, "focused") === true && !ROOTS.includes(node.role?.value ?? "");
  const focused = nodes.find(isFocused);
  const alerts = nodes.filter((node) => !node.ignored && node.role?.value === "alert");
  return { focused: focused && toHeard(focused, byId), alerts: alerts.map((node) => textOf(node, byId)) };
}
