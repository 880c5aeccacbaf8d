import type { Knowledge } from "./knowledge.ts";
import { readDocument } from "./readDocument.ts";
import { searchDocuments } from "./searchDocuments.ts";
import type { Tool } from "./tool.ts";

/** What the tools work with; roles/ hands it over. */
export interface ToolPorts {
  knowledge: Knowledge;
}

export type Tools = ReadonlyMap<string, Tool>;

/** Every tool that runs here, by the name that models call it by. */
export const createTools = ({ knowledge }: ToolPorts): Tools =>
  new Map([searchDocuments(knowledge), readDocument(knowledge)].map((tool) => [tool.name, tool]));
