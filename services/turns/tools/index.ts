import type { Knowledge } from "./knowledge.ts";
import { readDocument } from "./readDocument.ts";
import { scriptedTool, type Scripts } from "./scripted.ts";
import { searchDocuments } from "./searchDocuments.ts";
import type { Tool } from "./tool.ts";
import type { Web } from "./web.ts";
import { webFetch } from "./webFetch.ts";
import { webSearch } from "./webSearch.ts";

/** What the tools work with; roles/ hands it over. */
export interface ToolPorts {
  knowledge: Knowledge;
  web: Web;
  scripts: Scripts;
}

export interface Tools {
  /** The tools with these names that an organization has, built in or its own, in their order. */
  find(organization: string, names: string[]): Promise<Tool[]>;
}

/** Every tool that runs here, by the name that models call it by. */
export function createTools({ knowledge, web, scripts }: ToolPorts): Tools {
  const builtIn = new Map(
    [searchDocuments(knowledge), readDocument(knowledge), webSearch(web), webFetch(web)].map((tool) => [
      tool.name,
      tool,
    ]),
  );
  return {
    async find(organization, names) {
      const others = names.filter((name) => !builtIn.has(name));
      const own = others.length > 0 ? await scripts.find(organization, others) : [];
      const found = new Map([...builtIn, ...own.map((tool) => [tool.name, scriptedTool(scripts, tool)] as const)]);
      return names.flatMap((name) => found.get(name) ?? []);
    },
  };
}
