import { inSpan } from "#events/spans.ts";
import { GEN_AI } from "../genAi.ts";
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

/** Names of an organization's own tools are words of its own. */
const inItsSpan = (tool: Tool, own: boolean): Tool => ({
  ...tool,
  run: (input, calling) =>
    inSpan(
      own ? "execute_tool" : `execute_tool ${tool.name}`,
      {
        attributes: {
          [GEN_AI.operation]: "execute_tool",
          [GEN_AI.toolType]: "function",
          ...(!own && { [GEN_AI.toolName]: tool.name }),
        },
      },
      () => tool.run(input, calling),
    ),
});

/** Every tool that runs here, by the name that models call it by. */
export function createTools({ knowledge, web, scripts }: ToolPorts): Tools {
  const builtIn = new Map(
    [searchDocuments(knowledge), readDocument(knowledge), webSearch(web), webFetch(web)].map((tool) => [
      tool.name,
      inItsSpan(tool, false),
    ]),
  );
  return {
    async find(organization, names) {
      const others = names.filter((name) => !builtIn.has(name));
      const own = others.length > 0 ? await scripts.find(organization, others) : [];
      const found = new Map([
        ...builtIn,
        ...own.map((tool) => [tool.name, inItsSpan(scriptedTool(scripts, tool), true)] as const),
      ]);
      return names.flatMap((name) => found.get(name) ?? []);
    },
  };
}
